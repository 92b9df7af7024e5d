import { expect, test } from "vitest";
import { asTreeId } from "../../src/core/values/ids.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { callTools, createMemoryChannel, fail, say, type Script, type ScriptedReply } from "../../src/testing/index.ts";
import { eventsUntil, lookTool, openTestErrand } from "../support/test-errand.ts";

const look = (text: string): ScriptedReply =>
  callTools([{ name: "look", input: { at: "SECRET" } }], text === "" ? {} : { text });

/** By where the result comes from: what the child does, and what of it must stay. */
const kinds = [
  { report: "tag", reporting: "tag", child: [look("SECRET words"), say("SECRET <response>kept result</response>")] },
  {
    report: "salvaged",
    reporting: "tool",
    child: [look("SECRET words"), say("kept result"), look(""), say("NO_REPLY")],
  },
  {
    report: "salvaged",
    reporting: "tool",
    child: [look("SECRET words"), say("kept result"), { ...say("SECRET refusal"), stop: "refused" }],
  },
  {
    report: "salvaged",
    reporting: "tool",
    child: [look("SECRET words"), say("kept result"), say("<thinking>SECRET</thinking>NO_REPLY")],
  },
  {
    report: "salvaged",
    reporting: "tool",
    child: [look("SECRET words"), say("kept result"), say("(empty reply)")],
  },
  { report: "missing", reporting: "tool", child: [look(""), say(""), say("")] },
] as const;

const NOTES = { task: "notes" };
const notes = { name: "start_background_agent", input: NOTES };
const overflow = fail({ code: "context-overflow", message: "too long" });

/**
 * The child's result stands in its first turn, which a summary stands for once the second turn has found its context
 * too long.
 */
const summarised = [
  {
    report: "salvaged",
    reporting: "tool",
    child: [callTools([notes], { text: "SECRET words" }), say("kept result"), overflow, say("SECRET summary")],
  },
  {
    report: "missing",
    reporting: "tool",
    child: [callTools([notes, { name: "look", input: {} }]), say(""), overflow, say("SECRET summary")],
  },
] as const;

type Child = readonly ScriptedReply[];

/** Replies in order, whatever stands in the context; a child of the child has nothing to say. */
function inOrder(child: Child): Script {
  let said = 0;
  return (_request, { task }) => {
    if (task === NOTES.task) return say("NO_REPLY");
    said += 1;
    return child[said - 1] ?? say("NO_REPLY");
  };
}

test.each([...kinds, ...summarised])(
  "D10: cleanup of a run whose result is $report keeps just that, and a restart reads the same context",
  async ({ report, reporting, child }) => {
    const store = { ...createMemoryStore(), close: async () => {} };
    const script = inOrder(child);
    const tools = [lookTool(async () => ({ text: "kept result", failed: false }))];
    const start = callTools([{ name: "start_background_agent", input: { task: "y", cleanup: "delete" } }]);
    const options = { store, tools, child: { reporting }, limits: { maxDepth: 2 } };
    const first = await openTestErrand({ parent: [start, say("started"), say("told")], child: script }, options);
    const agent = await first.errand.openAgent({ channel: createMemoryChannel() });
    await agent.post("go");
    await eventsUntil(first.errand, agent.id, (event) => event.facts.some((fact) => fact.type === "texts-erased"));
    const [run] = await first.errand.listRuns();
    expect(run?.report).toBe(report);
    expect(await first.errand.result(run?.id ?? "")).toContain("kept result");
    const bodies = (await store.rows(asTreeId(agent.id), 1, 1_000)).map((row) => row.body);
    expect(JSON.stringify(bodies)).not.toContain("SECRET");
    expect((await first.errand.replay(agent.id)).difference).toBeNull();
    const told = first.models.model("scripted/parent").requests.at(-1)?.messages.at(-1);
    expect(JSON.stringify(told)).toContain("kept result");
    await first.errand.close();
    const second = await openTestErrand({ parent: [say("again")], child: script }, options);
    await (await second.errand.agent(agent.id)).postAndAwait("and?");
    const [before, after] = [first, second].map(
      ({ models }) => models.model("scripted/parent").requests.at(-1)?.messages ?? [],
    );
    expect(after?.slice(0, 4)).toEqual(before?.slice(0, 4));
  },
);

test("A2, D10: a child's answer is its report, also for a repeated message after an erasure", async () => {
  const arrived = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const tool = lookTool(async () => {
    arrived.resolve();
    await asked.promise;
    return { text: "seen", failed: false };
  });
  const start = callTools([{ name: "start_background_agent", input: { task: "y", cleanup: "delete" } }]);
  const { errand } = await openTestErrand(
    {
      parent: [start, say("started"), say("told")],
      child: [look(""), say("<response>first</response>"), say("so: <response>found</response>")],
    },
    { tools: [tool], child: { reporting: "tag" } },
  );
  const agent = await errand.openAgent({ channel: createMemoryChannel() });
  await agent.post("go");
  await arrived.promise;
  const [run] = await errand.listRuns();
  const child = await errand.agent(run?.agent ?? "");
  const message = { id: "11111111-1111-4111-8111-111111111111" };
  const first = child.postAndAwait("and?", message);
  await child.post("and?", message);
  asked.resolve();
  expect((await first).text).toBe("found");
  await eventsUntil(errand, agent.id, (event) => event.facts.some((fact) => fact.type === "texts-erased"));
  expect((await child.postAndAwait("and?", message)).text).toBe("found");
});
