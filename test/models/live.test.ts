/** `npm run test:live` against a local server with a provider's protocol, and without any key. */

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { MODEL_SOURCES } from "../../src/models/registry/model-sources.ts";
import { openaiChat } from "./wires/openai-chat.ts";
import type { WireReply } from "./wires/wire.ts";
import { type Behaviour, openWireServer, stream } from "./wires/wire-server.ts";

const script = fileURLToPath(new URL("../live/run.ts", import.meta.url));

async function runLive(env: Readonly<Record<string, string>>, ...args: string[]) {
  const keys = new Set(["ERRAND_MODEL", ...MODEL_SOURCES.flatMap((source) => source.keys)]);
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.has(name)));
  const child = spawn(process.execPath, [script, ...args], { env: { ...clean, ...env } });
  let out = "";
  let err = "";
  child.stdout.on("data", (piece: Buffer) => (out += piece.toString()));
  child.stderr.on("data", (piece: Buffer) => (err += piece.toString()));
  const code = await new Promise((resolve) => child.on("close", resolve));
  return { code, out, err };
}

let calls = 0;
function call(name: string, text: string): WireReply {
  calls += 1;
  return { calls: [{ id: `call_${calls}`, name, arguments: JSON.stringify({ text }) }] };
}

/** A model that follows its instructions, by the task and the number of replies so far. */
const obedient: Behaviour = (exchange) => {
  const { messages } = JSON.parse(exchange.body) as { readonly messages: readonly { readonly role: string }[] };
  const replies = messages.filter(({ role }) => role === "assistant").length;
  const child = exchange.body.includes("You are a child agent");
  const reply = (): WireReply => {
    if (!child) return { text: exchange.body.includes("kettle") ? "The kettle is boiling!" : "All done." };
    if (exchange.body.includes("kettle"))
      return (
        [call("send_user_message", "The kettle is boiling."), call("send_agent_message", "done")][replies] ?? {
          text: "Bye.",
        }
      );
    if (exchange.body.includes("herons"))
      return [{ text: "three herons" }, call("send_agent_message", "three herons")][replies] ?? { text: "Bye." };
    return [call("send_agent_message", "It is pomegranate.")][replies] ?? { text: "Bye." };
  };
  return stream(exchange, openaiChat.frames(reply()));
};

test("everything passes on a model that follows its instructions", async () => {
  const server = await openWireServer(obedient);
  const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${server.url}/v1`, ERRAND_MODEL: "openai-chat/m" };
  const { code, out, err } = await runLive(env);
  expect(err).toBe("");
  expect(out).toBe("On openai-chat/m:\nok     reporting\nok     nudge\nok     user message\n3 passed, 0 failed\n");
  expect(code).toBe(0);
});

test("everything fails on a model that only talks, with the reasons", async () => {
  const server = await openWireServer((exchange) => stream(exchange, openaiChat.frames({ text: "Indeed." })));
  const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${server.url}/v1` };
  const { code, out } = await runLive(env, "--model", "openai-chat/m");
  expect(out).toContain("FAILED reporting\n       not so: the child reported with the tool, by itself");
  expect(out).toContain("FAILED nudge");
  expect(out).toContain("       not so: the user was told of the kettle");
  expect(out).toContain("0 passed, 3 failed");
  expect(code).toBe(1);
});

test("without a key it says that nothing was tested; an unavailable model is wrong use", async () => {
  const skipped = await runLive({});
  expect(skipped.out).toContain("##  SKIPPED: nothing was tried on a real model.");
  expect(skipped.out).toContain("ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY");
  expect(skipped.code).toBe(0);
  const missing = await runLive({}, "--model", "anthropic/x");
  expect(missing.err).toBe("test:live: The model anthropic/x needs a key: set ANTHROPIC_API_KEY.\n");
  expect(missing.code).toBe(2);
});
