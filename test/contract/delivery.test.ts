import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { byContext, callTool, createMemoryChannel, fail, hang, say } from "../../src/testing/index.ts";
import type { Script } from "../../src/testing/index.ts";
import { newestUserText, occurrences, requestText, toolText } from "../support/model-requests.ts";
import { delegationCall, runDelegation } from "../support/run-delegation.ts";
import { gate, report, startSeveral } from "../support/scripted-replies.ts";
import { allFacts, eventsNow, eventsUntilFacts, factsOfType } from "../support/tree-facts.ts";
import { eventsUntil, openTestErrand, turnsEnded } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

/** Children that report "result of TASK"; those named in `held` only once their gate is open, "hangs" never. */
function workers(held: Readonly<Record<string, ReturnType<typeof gate>>> = {}): Script {
  return async (_request, { task, replies }) => {
    if (task === "hangs") return hang();
    await held[task]?.passed;
    return replies === 0 ? report(`result of ${task}`) : say("end");
  };
}

test("scenario 1: one announcement holds the results of three children of one turn in spawn order", async () => {
  const held = { one: gate(), two: gate(), three: gate() };
  const { errand, models } = await openTestErrand({
    parent: byContext([startSeveral(["one", "two", "three"]), say("started"), say("told")]),
    child: workers(held),
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  held.three.open();
  await eventsUntilFacts(errand, agent.id, "run-ended", 1);
  held.one.open();
  await eventsUntilFacts(errand, agent.id, "run-ended", 2);
  const parent = models.model("scripted/parent").requests;
  expect(parent).toHaveLength(2);
  held.two.open();
  const facts = allFacts(await eventsUntil(errand, agent.id, turnsEnded(2)));
  expect(factsOfType(facts, "announcement-queued")).toMatchObject([{ runs: [1, 2, 3] }]);
  expect(parent).toHaveLength(3);
  const told = newestUserText(parent[2]);
  expect(told).toMatch(/result of one[\s\S]*result of two[\s\S]*result of three/);
  expect(["one", "two", "three"].map((task) => occurrences(told, `result of ${task}`))).toEqual([1, 1, 1]);
});

test("scenario 2: after the barrier two results go out and list the third as pending, which follows once", async () => {
  const world = createTestWorld();
  const held = { slow: gate() };
  const { errand, models } = await openTestErrand(
    {
      parent: (_request, { replies }) =>
        replies === 0 ? startSeveral(["one", "two", "slow"], { timeout_seconds: 900 }) : say(`line ${replies}`),
      child: workers(held),
    },
    { world },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(299_000);
  const parent = models.model("scripted/parent").requests;
  expect(parent).toHaveLength(2);
  await world.advance(2_000);
  expect(parent).toHaveLength(3);
  const told = newestUserText(parent[2]);
  expect(told).toMatch(/result of one[\s\S]*result of two[\s\S]*"slow" \(run [^)]+\): still running/);
  held.slow.open();
  await world.rest();
  expect(parent).toHaveLength(4);
  expect(newestUserText(parent[3])).toContain("result of slow");
  expect(newestUserText(parent[3])).not.toContain("result of one");
  await world.advance(600_000);
  expect(parent).toHaveLength(4);
});

test("scenario 3: a spawn in a later turn does not postpone an earlier batch", async () => {
  const held = { two: gate() };
  const { errand, models } = await openTestErrand({
    parent: (_request, { newest: last, replies }) => {
      if (last.startsWith("first")) return replies === 0 ? startSeveral(["one", "two"]) : say("two started");
      if (last.startsWith("second")) return replies === 2 ? startSeveral(["hangs"]) : say("third started");
      return say("told");
    },
    child: workers(held),
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("first");
  await eventsUntilFacts(errand, agent.id, "run-ended");
  await agent.postAndAwait("second");
  held.two.open();
  await eventsUntil(errand, agent.id, turnsEnded(3));
  const told = newestUserText(models.model("scripted/parent").requests.at(-1));
  expect(told).toMatch(/result of one[\s\S]*result of two/);
  expect((await errand.listRuns()).map((run) => run.delivery)).toEqual(["placed", "placed", "open"]);
});

test("scenario 8: the same end signalled many times gives one terminal state and one delivery", async () => {
  const { errand, models } = await openTestErrand({
    parent: (_request, { replies }) => (replies === 0 ? startSeveral(["hangs"]) : say(`line ${replies}`)),
    child: workers(),
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const id = (await errand.listRuns())[0]?.id ?? "";
  const answers = await Promise.all(Array.from({ length: 5 }, () => errand.cancel(id)));
  expect(answers.filter(Boolean)).toHaveLength(1);
  await eventsUntil(errand, agent.id, turnsEnded(2));
  expect(await errand.cancel(id)).toBe(false);
  const live = allFacts((await eventsNow(errand, agent.id)).filter((event) => event.rejected === null));
  expect(factsOfType(live, "run-ended")).toHaveLength(1);
  expect(factsOfType(live, "announcement-queued")).toHaveLength(1);
  expect(models.model("scripted/parent").requests).toHaveLength(3);
});

test("scenario 10: five children that end in a long turn are announced once, after the user's message", async () => {
  const held = gate();
  const { errand, models } = await openTestErrand({
    parent: async (_request, { replies }) => {
      if (replies === 0) await held.passed;
      return say(`line ${replies + 1}`);
    },
    child: workers(),
  });
  const agent = await errand.openAgent();
  await agent.post("a long question");
  for (let count = 1; count <= 5; count += 1) await agent.spawn({ task: `task ${count}` });
  await eventsUntilFacts(errand, agent.id, "run-ended", 5);
  await agent.post("the user's message");
  held.open();
  const facts = allFacts(await eventsUntil(errand, agent.id, turnsEnded(3)));
  const parent = models.model("scripted/parent").requests;
  expect(parent).toHaveLength(3);
  expect(newestUserText(parent[1]).startsWith("the user's message")).toBe(true);
  expect(newestUserText(parent[1])).not.toContain("result of");
  for (let count = 1; count <= 5; count += 1)
    expect(occurrences(newestUserText(parent[2]), `result of task ${count}`)).toBe(1);
  expect(factsOfType(facts, "turn-started").filter((fact) => fact.announcement !== undefined)).toHaveLength(1);
});

test("scenario 11: a failing announcement is retried after 1, 4 and 16 s; then one summary", async () => {
  const world = createTestWorld();
  const channel = createMemoryChannel();
  const { errand, models } = await openTestErrand(
    { parent: [startSeveral(["one"]), say("started"), fail(), fail(), fail(), say("the summary")], child: workers() },
    { world },
  );
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await world.rest();
  const parent = models.model("scripted/parent").requests;
  const counts = [parent.length];
  // To just before the earliest moment of the next attempt, and to the latest: a wait is up to a quarter longer.
  for (const wait of [999, 251, 3_749, 1_251, 14_749, 5_251]) {
    await world.advance(wait);
    counts.push(parent.length);
  }
  expect(counts).toEqual([3, 3, 4, 4, 5, 5, 6]);
  expect(channel.messages.map((message) => message.text)).toEqual(["started", "the summary"]);
  expect((await errand.listRuns())[0]).toMatchObject({ delivery: "placed" });
});

test("scenario 11: a blocked announcement stays for the next turn, and then becomes a short line", async () => {
  const world = createTestWorld();
  const { errand, models } = await openTestErrand(
    {
      parent: [
        startSeveral(["one"]),
        say("started"),
        fail(),
        fail(),
        fail(),
        fail(),
        say("here is both"),
        say("later"),
      ],
      child: workers(),
    },
    { world },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(30_000);
  const facts = allFacts(await eventsNow(errand, agent.id));
  expect(factsOfType(facts, "announcement-blocked")).toHaveLength(1);
  const parent = models.model("scripted/parent").requests;
  expect(parent).toHaveLength(6);
  await agent.postAndAwait("what is new?");
  expect(occurrences(requestText(parent[6]), "result of one")).toBe(1);
  expect(requestText(parent[6])).toMatch(/result of one[\s\S]*what is new\?/);
  await agent.postAndAwait("and now?");
  const all = requestText(parent[7]);
  expect(occurrences(all, "Findings:")).toBe(0);
  expect(all).toMatch(/\[[^\n]*"one"[^\n]*completed successfully[^\n]*\]\s+what is new\?\s+here is both\s+and now\?$/);
  expect(factsOfType(allFacts(await eventsNow(errand, agent.id)), "announcement-queued")).toHaveLength(1);
});

test("scenario 12: a parent that answers NO_REPLY sends nothing, and delivery is complete", async () => {
  const world = createTestWorld();
  const channel = createMemoryChannel();
  const { errand, models } = await openTestErrand(
    { parent: byContext([startSeveral(["one"]), say("started"), say("NO_REPLY"), say("unused")]), child: workers() },
    { world },
  );
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await world.advance(60_000);
  expect(channel.messages.map((message) => message.text)).toEqual(["started"]);
  expect((await errand.listRuns())[0]).toMatchObject({ status: "ok", delivery: "placed" });
  expect(models.model("scripted/parent").requests).toHaveLength(3);
});

test("scenario 19: of a 200 KB result the parent gets an excerpt and reads the rest with its handle", async () => {
  const big = Array.from({ length: 20_000 }, (_, index) => `line ${index}é`).join("\n");
  const digests = [
    createHash("sha256").update(big).digest("base64url"),
    createHash("sha256").update(big).digest("hex"),
  ];
  const bytes = Buffer.byteLength(big);
  expect(bytes).toBeGreaterThan(200_000);
  for (const mode of ["awaited", "background"] as const) {
    const pieces: string[] = [];
    const { errand, models } = await openTestErrand({
      parent: (request, { replies, newest: last }) => {
        if (replies === 0) return delegationCall(mode);
        if (!last.startsWith("read it")) return say("told");
        const answer = toolText(request);
        const read = answer.includes('"offset"')
          ? (JSON.parse(answer) as { text: string; next_offset?: number })
          : null;
        if (read !== null) pieces.push(read.text);
        if (read !== null && read.next_offset === undefined) return say("read");
        return callTool("read_result", { run_id: runId, offset: read?.next_offset ?? 0 });
      },
      child: byContext([report(big), say("end")]),
    });
    const agent = await errand.openAgent();
    await agent.post("go");
    await eventsUntil(errand, agent.id, turnsEnded(mode === "awaited" ? 1 : 2));
    const runId = (await errand.listRuns())[0]?.id ?? "";
    const parent = models.model("scripted/parent").requests;
    const told = mode === "awaited" ? toolText(parent.at(-1)) : newestUserText(parent.at(-1));
    expect(Buffer.byteLength(told)).toBeLessThan(40_000);
    expect(told).toContain(`"original_bytes":${bytes}`);
    expect(told).toMatch(/"kept_bytes":32\d{3}/);
    expect(digests.some((digest) => told.includes(digest))).toBe(true);
    expect(told).toContain(runId);
    const asked = models.model("scripted/child").requests.length;
    await agent.postAndAwait("read it");
    expect(pieces.join("")).toBe(big);
    expect(models.model("scripted/child").requests).toHaveLength(asked);
  }
});

test("scenario 20: after a compaction the parent still sees its open children and starts none twice", async () => {
  const long = "x".repeat(6_000);
  const { errand, models } = await openTestErrand(
    {
      parent: (request, { newest: last }) => {
        if (last.includes("Summarise the conversation")) return say("SUMMARY");
        return requestText(request).includes('"hangs"') ? say("noted") : startSeveral(["hangs"]);
      },
      child: workers(),
    },
    { facts: { "scripted/parent": { window: 2_000 } } },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("first");
  await agent.postAndAwait(long);
  await agent.postAndAwait("what next?");
  const [run, ...more] = await errand.listRuns();
  expect(more).toEqual([]);
  const last = models.model("scripted/parent").requests.at(-1);
  expect(requestText(last)).toContain("SUMMARY");
  expect(newestUserText(last).split("\n").at(-1)).toMatch(new RegExp(`^\\[run ${run?.id} "hangs": running`));
  expect(occurrences(requestText(last), run?.id ?? "?")).toBe(1);
});

test("scenario 16: an awaited child's progress is in its transcript, and its last text is the result", async () => {
  const { delivered, child } = await runDelegation("awaited", [
    report("progress"),
    callTool("look", {}),
    report("final"),
    say("end"),
  ]);
  expect(JSON.parse(delivered)).toMatchObject({ summary: "final" });
  expect(requestText(child.at(-1))).toMatch(/progress[\s\S]*final/);
});
