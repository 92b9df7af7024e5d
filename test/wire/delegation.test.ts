/** Rules of the contract over every provider's protocol, checked by requests and messages to the user. */

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { WIRES } from "../models/wires/index.ts";
import { refuse } from "../models/wires/wire-server.ts";
import { occurrences } from "../support/model-requests.ts";
import { NUDGE_TAG, NUDGE_TOOL } from "../support/run-delegation.ts";
import { call, calling, contextOf, converse, final, payloadOf, resultOf, saying } from "./converse.ts";

const TASK = "count the herons";
const OTHER = "count the wrens";
const delegate = calling("subagent", { task: TASK });
const start = calling("start_background_agent", { task: TASK });
const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");

describe.each(WIRES)("$title", (wire) => {
  test("B12: an awaited child with a final report takes one request, and both agents take three", async () => {
    const talk = await converse(wire, { parent: [delegate, saying("Seven.")], children: { [TASK]: [final("seven")] } });
    await talk.ask(1, 1);
    expect(talk.server.exchanges).toHaveLength(3);
    expect(payloadOf(wire, talk.bodies()[1])).toMatchObject({ success: true, summary: "seven", report: "tool" });
    expect(talk.shown()).toEqual(["Seven."]);
  });

  test("D3, D8: a background batch is announced once, answered, and leaves one line behind", async () => {
    const both = { calls: [TASK, OTHER].map((task) => call("start_background_agent", { task })) };
    const talk = await converse(wire, {
      parent: [both, saying("Started."), saying("Seven and two."), saying("Yes.")],
      children: { [TASK]: [final("seven herons")], [OTHER]: [final("two wrens")] },
    });
    await talk.ask(2, 2);
    const told = contextOf(wire, talk.bodies()[2]);
    expect(told).toContain("2 background tasks have ended.");
    expect(occurrences(told, "seven herons")).toBe(1);
    expect(occurrences(told, "two wrens")).toBe(1);
    expect(told).toContain("Results: 2 succeeded, 0 failed/timed out");
    expect(talk.shown()).toEqual(["Started.", "Seven and two."]);
    await talk.agent.postAndAwait("Really?");
    const after = contextOf(wire, talk.bodies()[3]);
    expect(after).not.toContain("seven herons");
    expect(after).toContain("[Told of background tasks:");
    expect(after).toContain("Seven and two.");
  });

  test("D14: the whole report of a background run reaches its parent, and read_result", async () => {
    const artifacts = [
      { kind: "path", value: "herons.txt" },
      { kind: "json", value: '{"herons":7}' },
    ];
    const talk = await converse(wire, {
      parent: [start, saying("Started."), saying("Told.")],
      children: { [TASK]: [final("seven", { artifacts })] },
    });
    await talk.ask(2, 2);
    const [run] = await talk.errand.listRuns();
    const whole = 'seven\n\nArtifacts:\n- path: herons.txt\n- json: {"herons":7}';
    expect(contextOf(wire, talk.bodies()[2])).toContain(`<findings origin="${run?.agent}">\n${whole}\n</findings>`);
    expect(await talk.errand.result(run?.id ?? "")).toBe(whole);
  });

  test("D7, F5: a report over the cap is cut, and the parent reads the rest by its handle", async () => {
    const artifacts = Array.from({ length: 20 }, (_, index) => ({ kind: "note", value: `${index} `.repeat(5_000) }));
    let run = "";
    const talk = await converse(wire, {
      parent: [
        delegate,
        (exchange) => {
          run = String(payloadOf(wire, exchange.body)["run_id"]);
          exchange.response.writeHead(200, { "content-type": "text/event-stream" });
          exchange.response.end(wire.frames(calling("read_result", { run_id: run, offset: 0, limit: 100 })).join(""));
        },
        saying("Read."),
      ],
      children: { [TASK]: [final("the summary", { artifacts })] },
    });
    await talk.ask(1, 1);
    const told = resultOf(wire, talk.bodies()[1]);
    expect(Buffer.byteLength(told)).toBeLessThan(32_768 + 2_048);
    const payload = payloadOf(wire, talk.bodies()[1]);
    const whole = await talk.errand.result(run);
    expect(payload).toMatchObject({
      success: true,
      summary: "the summary",
      truncated: { original_bytes: Buffer.byteLength(whole), sha256: sha256(whole) },
    });
    const read = payloadOf(wire, talk.bodies()[2]);
    expect(read).toMatchObject({ text: whole.slice(0, 100), offset: 0, next_offset: 100 });
  });

  test("B2, B6: a child that forgets is nudged in the exact words, and its earlier text is used", async () => {
    const talk = await converse(wire, {
      parent: [delegate, saying("Told.")],
      children: {
        [TASK]: [
          saying("<thinking>I count.</thinking>Seven herons, <thinking>or so."),
          saying("I have already provided my results above."),
        ],
      },
    });
    await talk.ask(1, 1);
    expect(occurrences(contextOf(wire, talk.bodies(TASK)[1]), NUDGE_TOOL)).toBe(1);
    expect(payloadOf(wire, talk.bodies()[1])).toMatchObject({
      success: true,
      summary: "Seven herons, <thinking>or so.\n\nI have already provided my results above.",
      report: "salvaged",
      nudged: true,
    });
  });

  test("B3, B4: the text in the tag is the result, and a failed nudge is an error", async () => {
    const tag = { child: { reporting: "tag" } } as const;
    const good = await converse(
      wire,
      {
        parent: [delegate, saying("Told.")],
        children: { [TASK]: [saying("hm"), saying("<response>seven</response>")] },
      },
      tag,
    );
    await good.ask(1, 1);
    expect(occurrences(contextOf(wire, good.bodies(TASK)[1]), NUDGE_TAG)).toBe(1);
    expect(payloadOf(wire, good.bodies()[1])).toMatchObject({ success: true, summary: "seven", report: "tag" });
    const bad = await converse(
      wire,
      { parent: [delegate, saying("Told.")], children: { [TASK]: [saying("seven"), saying("done")] } },
      tag,
    );
    await bad.ask(1, 1);
    const payload = payloadOf(wire, bad.bodies()[1]);
    expect(payload).toMatchObject({ success: false, reason: "no-report" });
    expect(payload["summary"]).toContain("Error: subagent did not produce a response.");
    expect(payload["summary"]).toContain("seven\n\ndone");
  });

  test("C5: a message for the user from an awaited child joins the turn, and one reply covers both", async () => {
    const talk = await converse(wire, {
      parent: [delegate, saying("The bridge is open, and there are seven.")],
      children: {
        [TASK]: [
          { calls: [call("send_user_message", { text: "the bridge is open" }), ...(final("seven").calls ?? [])] },
        ],
      },
    });
    await talk.ask(1, 1);
    const [run] = await talk.errand.listRuns();
    const second = contextOf(wire, talk.bodies()[1]);
    const frame = `<message_for_user origin="${run?.agent}">\nthe bridge is open\n</message_for_user>`;
    expect(second.indexOf(frame)).toBeGreaterThan(second.indexOf('"summary":"seven"'));
    expect(talk.shown()).toEqual(["The bridge is open, and there are seven."]);
    expect(talk.bodies()).toHaveLength(2);
  });

  test("C1, C2: a background child's message starts a turn, and a silent parent is nudged", async () => {
    const talk = await converse(wire, {
      parent: [start, saying("Started."), saying("NO_REPLY"), saying("NO_REPLY"), saying("Seven.")],
      children: {
        [TASK]: [calling("send_user_message", { text: "the bridge is open" }), calling("look", {}), final("seven")],
      },
    });
    await talk.ask(3, 3);
    expect(talk.shown()).toEqual(["Started.", `${TASK}: the bridge is open`, "Seven."]);
    expect(contextOf(wire, talk.bodies()[3])).toContain("has not reached the user yet");
  });

  test("B7: a closing call that the server refuses does not undo the report, and is not repeated", async () => {
    const report = calling("send_agent_message", { text: "seven" });
    const talk = await converse(wire, {
      parent: [delegate, saying("Seven.")],
      children: { [TASK]: [report, (exchange) => refuse(exchange, 400, wire.error("no more"))] },
    });
    await talk.ask(1, 1);
    expect(talk.bodies(TASK)).toHaveLength(2);
    expect(payloadOf(wire, talk.bodies()[1])).toMatchObject({ success: true, summary: "seven" });
    expect(talk.shown()).toEqual(["Seven."]);
  });

  if (wire.textArguments) {
    test("F5: arguments that are not JSON get the payload with an error, and the model continues", async () => {
      const talk = await converse(wire, {
        parent: [calling("subagent", '{"task":'), delegate, saying("Seven.")],
        children: { [TASK]: [final("seven")] },
      });
      await talk.ask(1, 1);
      expect(payloadOf(wire, talk.bodies()[1])).toMatchObject({
        success: false,
        summary: "",
        artifacts: [],
        reason: "invalid-arguments",
        timed_out: false,
        duration_ms: 0,
        run_id: null,
      });
      expect(payloadOf(wire, talk.bodies()[2])).toMatchObject({ success: true, summary: "seven" });
      expect(talk.shown()).toEqual(["Seven."]);
    });
  }
});
