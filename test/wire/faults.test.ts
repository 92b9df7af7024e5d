/** A child whose model server is dead, silent or broken: what the parent's model and the user see. */

import { createServer } from "node:net";
import { expect, test } from "vitest";
import { anthropic } from "../models/wires/anthropic.ts";
import { openaiChat, openaiCompatible } from "../models/wires/openai-chat.ts";
import { type Behaviour, openWireServer } from "../models/wires/wire-server.ts";
import { calling, contextOf, converse, final, payloadOf, saying, silence } from "./converse.ts";

const TASK = "count the herons";
const delegate = calling("subagent", { task: TASK, timeout_seconds: 1 });

/** An address without a server. */
async function deadUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

/** A parent whose child has its model at another address. */
async function apart(url: string, start = delegate) {
  const env = (own: string) => ({ ...anthropic.env(own), ...openaiCompatible.env(url) });
  const wire = { ...anthropic, env };
  return converse(
    wire,
    { parent: [start, saying("It did not work."), saying("It did not work.")], children: {} },
    { child: { model: openaiCompatible.model } },
  );
}

async function served(behave: Behaviour) {
  return apart((await openWireServer(behave)).url);
}

test("F5: a dead model server is the cause in `error`, not only a timeout, and the parent continues", async () => {
  const talk = await apart(await deadUrl());
  await talk.ask(1, 1);
  const payload = payloadOf(anthropic, talk.bodies()[1]);
  expect(payload).toMatchObject({ success: false, timed_out: true, summary: "(no output)" });
  expect(payload["error"]).toMatch(/^timed out; the last model call failed: .*could not be reached: .*ECONNREFUSED/);
  expect(talk.shown()).toEqual(["It did not work."]);
});

test("F5, F8: the outcome and the record of a dead server's run carry the cause too", async () => {
  const errors: (string | null)[] = [];
  const talk = await apart(await deadUrl());
  talk.errand.onDelegation((record) => errors.push(record.error));
  const run = await talk.agent.spawn({ task: TASK, timeoutSeconds: 1 });
  expect(await run.outcome()).toMatchObject({ status: "timeout", error: expect.stringContaining("ECONNREFUSED") });
  expect(errors).toEqual([expect.stringContaining("ECONNREFUSED")]);
});

test.each([
  ["a page instead of a stream", "text/html", "<html><body>Welcome to the router</body></html>"],
  ["a stream of nonsense", "text/event-stream", "data: {nonsense\n\ndata: [DONE]\n\n"],
  ["an empty stream", "text/event-stream", ""],
  ["JSON of another kind", "application/json", '{"hello":"world"}'],
])("F5: a server that sends %s is named in `error`, and the parent goes on", async (_what, type, body) => {
  const talk = await served(({ response }) => {
    response.writeHead(200, { "content-type": type });
    response.end(body);
  });
  await talk.ask(1, 1);
  const payload = payloadOf(anthropic, talk.bodies()[1]);
  expect(payload).toMatchObject({ success: false, run_id: expect.any(String) });
  expect(payload["error"]).toMatch(/qwen3:8b/);
  expect(String(payload["error"]).length).toBeLessThan(1_500);
  expect(talk.shown()).toEqual(["It did not work."]);
});

test("F5: the text of a refusing server is the error, on one line and limited", async () => {
  const talk = await served(({ response }) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify(openaiChat.error(`the key is wrong\n${"x".repeat(100_000)}`)));
  });
  await talk.ask(1, 1);
  const payload = payloadOf(anthropic, talk.bodies()[1]);
  expect(payload).toMatchObject({ success: false, timed_out: false, reason: "provider-error" });
  expect(payload["error"]).toContain("status 401: the key is wrong");
  expect(String(payload["error"])).not.toContain("\n");
  expect(String(payload["error"]).length).toBeLessThan(1_000);
});

test("D4: the failure of a background child is announced with its server's text", async () => {
  const server = await openWireServer(({ response }) => {
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify(openaiChat.error("Error: no such model.")));
  });
  const talk = await apart(server.url, calling("start_background_agent", { task: TASK }));
  await talk.ask(2, 2);
  const told = contextOf(anthropic, talk.bodies()[2]);
  expect(told).toMatch(/Background task "count the herons" failed: ".*status 400: Error: no such model\."\n/);
  expect(told).toContain("Findings:\n(no output)");
});

test("B7: a closing call that hangs does not undo the report", async () => {
  const report = calling("send_agent_message", { text: "seven" });
  const talk = await converse(anthropic, {
    parent: [delegate, saying("Seven.")],
    children: { [TASK]: [report, silence] },
  });
  await talk.ask(1, 1);
  expect(talk.bodies(TASK)).toHaveLength(2);
  expect(payloadOf(anthropic, talk.bodies()[1])).toMatchObject({ success: true, summary: "seven", timed_out: false });
  expect(talk.shown()).toEqual(["Seven."]);
});

test("D9: an announcement whose turn fails on the wire is blocked, and the next turn carries it once", async () => {
  const talk = await converse(anthropic, {
    parent: [
      calling("start_background_agent", { task: TASK }),
      saying("Started."),
      ({ response }) => {
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify(anthropic.error("not now")));
      },
      saying("Seven."),
    ],
    children: { [TASK]: [final("seven herons")] },
  });
  await talk.ask(2, 2);
  expect(talk.shown()).toEqual(["Started.", "Seven."]);
  expect(contextOf(anthropic, talk.bodies()[3])).toBe(contextOf(anthropic, talk.bodies()[2]));
});
