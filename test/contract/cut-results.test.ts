/**
 * Rules A8 and D7: a tool's result over its cap enters the context as an excerpt with a handle, and `read_result` reads
 * all of it.
 */

import { expect, test } from "vitest";
import type { Json } from "../../src/core/values/json.ts";
import { asTreeId } from "../../src/core/values/ids.ts";
import { type ModelRequest, replayVerdict, type Tool } from "../../src/index.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { byContext, callTool, callTools, fail, say, type Script } from "../../src/testing/index.ts";
import { requestText, toolFailed, toolText } from "../support/model-requests.ts";
import { delegationCall, runDelegation } from "../support/run-delegation.ts";
import { report } from "../support/scripted-replies.ts";
import { eventsUntil, lookTool, openTestErrand } from "../support/test-errand.ts";

const LIMITS = { toolResultBytes: 1_000, toolResultKeptBytes: 5_000 };
const LONG = Array.from({ length: 200 }, (_, n) => `line ${String(n).padStart(4, "0")}\n`).join("");

const tools = (text = LONG): readonly Tool[] => [lookTool(async () => ({ text, failed: false }))];
const handles = (request: ModelRequest | undefined): string[] =>
  [...requestText(request).matchAll(/call_id "([^"]+)", offset/g)].map((match) => match[1] ?? "");
const names = (request: ModelRequest | undefined): string[] => (request?.tools ?? []).map((tool) => tool.name);
const read = (input: { readonly [name: string]: Json }) => callTool("read_result", input);
const piece = (request: ModelRequest | undefined): Json => JSON.parse(toolText(request)) as Json;

/** Each reply may use the handles of the request. */
function script(...replies: ((held: readonly string[], request: ModelRequest) => ReturnType<typeof say>)[]): Script {
  return (request, situation) => replies[situation.replies]?.(handles(request), request) ?? fail();
}

test("D7: a result over the cap is an excerpt with sizes, hash and handle; a shorter one stays as it is", async () => {
  for (const [text, cut] of [[LONG, true] as const, ["x".repeat(1_000), false] as const]) {
    const { errand, models } = await openTestErrand(
      { parent: byContext([callTool("look", {}), say("done")]) },
      { tools: tools(text), limits: LIMITS },
    );
    await (await errand.openAgent()).postAndAwait("go");
    const told = toolText(models.requests[1]);
    if (!cut) expect(told).toBe(text);
    else expect(told).toMatch(/^\[truncated: \{"original_bytes":2000,"kept_bytes":1000,"sha256":"[\w-]{43}"\}; .*\]\n/);
    if (cut) expect(told.endsWith(`]\n${text.slice(0, 1_000)}`)).toBe(true);
  }
});

test("D7: the pieces of a result join to the whole, also with characters of four bytes and escapes", async () => {
  const text = "\u{1F600}é\u0001".repeat(600);
  const replies: Script = (request, { replies: count }) => {
    const [call_id = ""] = handles(request);
    if (count === 0) return callTool("look", {});
    const last = count === 1 ? { next_offset: 0 } : (piece(request) as { readonly next_offset?: number });
    return last.next_offset === undefined ? say("done") : read({ call_id, offset: last.next_offset, limit: 1_003 });
  };
  const { errand, models } = await openTestErrand({ parent: replies }, { tools: tools(text), limits: LIMITS });
  await (await errand.openAgent()).postAndAwait("go");
  const read_ = models.requests.slice(2).map((request) => (piece(request) as { readonly text: string }).text);
  expect(read_.join("")).toBe(text);
});

test("A8: a child at the depth limit sees read_result for its own calls after its first handle", async () => {
  const { child } = await runDelegation(
    "awaited",
    script(
      () => callTool("look", {}),
      ([call_id = ""]) => read({ call_id, offset: 1_000, limit: 10 }),
      () => read({ run_id: "x" }),
      () => report("found"),
      () => say("end"),
    ),
    { tools: tools(), limits: LIMITS },
  );
  expect(child.map((request) => names(request).includes("read_result"))).toEqual([false, true, true, true, true]);
  const spec = child[1]?.tools.find((tool) => tool.name === "read_result");
  expect(spec?.schema).toMatchObject({ required: ["call_id"] });
  expect(JSON.stringify(spec?.schema)).not.toContain("run_id");
  expect(piece(child[2])).toEqual({ text: LONG.slice(1_000, 1_010), offset: 1_000, bytes: 2_000, next_offset: 1_010 });
  expect(toolText(child[3])).toContain("no such run below you");
});

test("A8: a child without a handle cannot call read_result", async () => {
  const { child } = await runDelegation("awaited", [read({ call_id: "call-3" }), report("x"), say("end")]);
  expect(toolText(child[1])).toContain('there is no tool "read_result" here');
});

test("A8: read_result takes either a run or a call, and refuses what it does not know", async () => {
  const { errand, models } = await openTestErrand({
    parent: byContext([
      read({}),
      read({ run_id: "x", call_id: "call-1" }),
      read({ call_id: "call-1", whole: true }),
      read({ call_id: "call-1" }),
      read({ call_id: "c0" }),
      say("done"),
    ]),
  });
  await (await errand.openAgent()).postAndAwait("go");
  const [, none, both, unknown, other, own] = models.requests;
  expect([none, both, unknown, other, own].map(toolFailed)).toEqual([true, true, true, true, true]);
  expect([none, both].map(toolText).every((text) => text.includes("either `run_id` or `call_id`"))).toBe(true);
  expect(toolText(unknown)).toContain("`whole` is not known here");
  expect([other, own].map(toolText).every((text) => text.includes("no result of yours has that call_id"))).toBe(true);
});

test("A8: an agent reads results of its own calls and of those below it, not those of others", async () => {
  let parents = "";
  let childs = "";
  const { errand, models } = await openTestErrand(
    {
      parent: script(
        () => callTool("look", {}),
        ([call_id = ""]) => ((parents = call_id), delegationCall("awaited")),
        () => read({ call_id: childs, offset: 1_990 }),
        () => say("done"),
      ),
      child: script(
        () => callTool("look", {}),
        ([call_id = ""]) => ((childs = call_id), read({ call_id: parents })),
        () => report("found"),
        () => say("end"),
      ),
    },
    { tools: tools(), limits: LIMITS },
  );
  await (await errand.openAgent()).postAndAwait("go");
  expect(parents).not.toBe(childs);
  expect(toolText(models.model("scripted/child").requests[2])).toContain("no result of yours has that call_id");
  expect(piece(models.model("scripted/parent").requests[3])).toMatchObject({ text: LONG.slice(1_990) });
});

test("D7: results of calls with one id have handles of their own", async () => {
  let runs = 0;
  const look = lookTool(async () => ({ text: `${(runs += 1)} ${LONG}`, failed: false }));
  const { errand, models } = await openTestErrand(
    {
      parent: script(
        () => callTools([{ name: "look", input: {}, id: "same" }]),
        () => callTools([{ name: "look", input: {}, id: "same" }]),
        ([first = ""]) => read({ call_id: first, limit: 6 }),
        ([, second = ""]) => read({ call_id: second, limit: 6 }),
        () => say("done"),
      ),
    },
    { tools: [look], limits: LIMITS },
  );
  await (await errand.openAgent()).postAndAwait("go");
  expect(piece(models.requests[3])).toMatchObject({ text: "1 line" });
  expect(piece(models.requests[4])).toMatchObject({ text: "2 line" });
});

test("D7: a fork reads what its origin kept, and both journals are proven", async () => {
  const { errand, models } = await openTestErrand(
    {
      parent: script(
        () => callTool("look", {}),
        () => say("saw"),
        ([call_id = ""]) => read({ call_id, offset: 1_995 }),
        () => say("done"),
      ),
    },
    { tools: tools(), limits: LIMITS },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const events = await eventsUntil(errand, agent.id, (event) => event.facts.some((fact) => fact.type === "turn-ended"));
  const fork = await errand.fork(agent.id, { at: events.at(-1)?.seq ?? 0 });
  await fork.postAndAwait("and the end?");
  expect(piece(models.requests.at(-1))).toMatchObject({ text: LONG.slice(1_995) });
  for (const tree of [agent.id, fork.id]) expect(replayVerdict(await errand.replay(tree))).toBe("proven");
});

test("D10: cleanup delete erases the whole result of a child's tool, and a handle to it says so", async () => {
  const store = { ...createMemoryStore(), close: async () => undefined };
  let childs = "";
  const { errand, models } = await openTestErrand(
    {
      parent: script(
        () => delegationCall("background", { cleanup: "delete" }),
        () => say("started"),
        () => say("told"),
        () => read({ call_id: childs }),
        () => say("done"),
      ),
      child: script(
        () => callTool("look", {}),
        ([call_id = ""]) => ((childs = call_id), report("found")),
        () => say("end"),
      ),
    },
    { tools: tools(), limits: LIMITS, store },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  await eventsUntil(errand, agent.id, (event) => event.facts.some((fact) => fact.type === "texts-erased"));
  expect(JSON.stringify(await store.rows(asTreeId(agent.id), 1, 1_000))).not.toContain("line 0190");
  await agent.postAndAwait("read it");
  expect(toolText(models.model("scripted/parent").requests.at(-1))).toContain("erased");
  expect((await errand.replay(agent.id)).difference).toBeNull();
});

test("B6, D7: the last output of a child without words is the excerpt with its handle", async () => {
  const { delivered, run, errand } = await runDelegation(
    "awaited",
    script(
      () => callTool("look", {}),
      () => say(""),
      () => say(""),
    ),
    {
      tools: tools(),
      limits: LIMITS,
    },
  );
  const whole = await errand.result(run.id);
  expect(whole).toContain("read_result, call_id");
  expect((JSON.parse(delivered) as { readonly summary: string }).summary).toBe(whole);
});

test("D7: after compaction the summary names the results that can still be read", async () => {
  const { errand, models } = await openTestErrand(
    {
      parent: (request, { newest }) => {
        if (newest.includes("Summarise the conversation")) return say("SUMMARY");
        if (request.messages.at(-1)?.role === "tool") return say("x".repeat(2_000));
        if (newest === "look") return callTool("look", {});
        const [call_id = ""] = [...requestText(request).matchAll(/- call_id "([^"]+)": look, 2000 bytes/g)].map(
          (m) => m[1],
        );
        return newest.includes("read it") && call_id !== "" ? read({ call_id, offset: 1_995 }) : say("x".repeat(2_000));
      },
    },
    { tools: tools(), limits: LIMITS, facts: { "scripted/parent": { window: 1_500 } } },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("look");
  await agent.postAndAwait("read it");
  const answers = models.requests.map(toolText);
  expect(answers.some((text) => text.includes(JSON.stringify(LONG.slice(1_995)).slice(1, -1)))).toBe(true);
  expect(replayVerdict(await errand.replay(agent.id))).toBe("proven");
});
