import fc from "fast-check";
import { expect, test } from "vitest";
import { contextsToText } from "./context/contexts.ts";
import { limits, numbers } from "./random-bounds.test-support.ts";
import { drive, seededNumbers, factsOf, testSource } from "./random-tree.test-support.ts";
import { replayBegin, replayVerdict } from "./journal/replay.ts";
import { mapsToText } from "./values/map-json.ts";
import { treeFold, treeFromText, treeNew, treeStep, treeToText } from "./tree.ts";

const RUNS = 400;

test("no sequence of inputs throws, and folding the recorded rows gives the live tree, byte for byte", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const { tree, rows } = drive(list, bounds);
      const folded = treeNew(testSource);
      for (const row of rows) treeFold(folded, row);
      expect(mapsToText(folded.state)).toBe(mapsToText(tree.state));
      expect(contextsToText(folded.contexts)).toBe(contextsToText(tree.contexts));
    }),
    { numRuns: RUNS },
  );
});

test("every message of a context is frozen, live and after a snapshot", () => {
  const frozen = (value: unknown): boolean =>
    typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const { tree } = drive(list, bounds);
      for (const { contexts } of [tree, treeFromText(treeToText(tree), testSource)])
        for (const { messages } of contexts.agents.values()) expect(messages.every(frozen)).toBe(true);
    }),
    { numRuns: 150 },
  );
});

test("the same inputs give the same bytes, and replay proves them by deciding again", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const first = drive(list, bounds);
      const again = treeNew(testSource);
      const rows = first.steps.map((step) => treeStep(again, step, "salt").row);
      expect(rows).toEqual(first.rows);
      const replay = replayBegin(testSource);
      for (const row of rows) replay.take(row);
      expect(replay.report()).toMatchObject({ difference: null, decided: rows.length });
      expect(replayVerdict(replay.report())).toBe("proven");
    }),
    { numRuns: RUNS },
  );
});

test("a tree from a snapshot continues exactly as the original", () => {
  fc.assert(
    fc.property(numbers, limits, fc.nat({ max: 200 }), (list, bounds, cut) => {
      const { steps, rows } = drive(list, bounds);
      const tree = treeNew(testSource);
      const at = cut % steps.length;
      for (const step of steps.slice(0, at)) treeStep(tree, step, "salt");
      const loaded = treeFromText(treeToText(tree), testSource);
      const later = steps.slice(at).map((step) => treeStep(loaded, step, "salt").row);
      expect(later).toEqual(rows.slice(at));
    }),
    { numRuns: 150 },
  );
});

test("I1–I4, I13, I14: every run ends at most once, and its outcome reaches its parent in exactly one way", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const { tree, rows } = drive(list, bounds);
      const created = new Set<number>();
      const ended = new Set<number>();
      const told = new Map<number, number>();
      const tell = (run: number): void => void told.set(run, (told.get(run) ?? 0) + 1);
      for (const fact of factsOf(rows)) {
        if (fact.type === "run-created") {
          expect(created.has(fact.run)).toBe(false);
          created.add(fact.run);
        }
        if (fact.type === "run-reported") expect(ended.has(fact.run)).toBe(false);
        if (fact.type === "run-ended") {
          expect(created.has(fact.run) && !ended.has(fact.run)).toBe(true);
          ended.add(fact.run);
        }
        if (fact.type === "tool-answered" && fact.run !== undefined) tell(fact.run);
        if (fact.type === "message-sent" && fact.run !== undefined) tell(fact.run);
        if (fact.type === "run-undeliverable" || fact.type === "run-returned") tell(fact.run);
        if (fact.type === "turn-started") for (const run of fact.placed ?? []) tell(run);
      }
      for (const [run, times] of told) expect([run, times, ended.has(run)]).toEqual([run, 1, true]);
      for (const run of created) {
        const known = tree.state.runs.get(run);
        expect(known === undefined).toBe(told.has(run));
        expect(known === undefined || (known.outcome === null) === !ended.has(run)).toBe(true);
      }
    }),
    { numRuns: RUNS },
  );
});

test("I16: a step with free slots starts every run that may start, and reports when slots are missing", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const tree = treeNew(testSource);
      for (const step of drive(list, bounds).steps) {
        const { running } = tree.state;
        const { decision } = treeStep(tree, step, "salt");
        const cap = tree.state.settings?.limits.liveChildren ?? 0;
        const startable = [...tree.state.agents.values()].some(
          ({ queue, live }) => queue.length > 0 && live.size < cap,
        );
        const left = step.slots + running - tree.state.running;
        if (decision.slotsLacked) expect(startable && left <= 0).toBe(true);
        if (step.input.type === "slots-offered" && decision.rejected === null && left > 0)
          expect(startable).toBe(false);
      }
    }),
    { numRuns: RUNS },
  );
});

test("I15: calls and results stay paired and roles alternate in every context", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      for (const { messages, open } of drive(list, bounds).tree.contexts.agents.values()) {
        for (const [index, message] of messages.entries()) {
          const before = messages[index - 1];
          if (message.role === "user") expect(before?.role).not.toBe("user");
          if (message.role === "assistant") expect(["user", "tool"]).toContain(before?.role);
          const calls = message.role === "assistant" ? message.parts.filter((part) => part.type === "tool-call") : [];
          const after = messages[index + 1];
          if (calls.length > 0 && after !== undefined) {
            expect(after.role === "tool" ? after.results.map((result) => result.id) : []).toEqual(
              calls.map((call) => call.id),
            );
          }
          if (calls.length > 0 && after === undefined) expect(open).not.toBeNull();
        }
      }
    }),
    { numRuns: RUNS },
  );
});

test("I17: live children, depth and runs of a tree stay within their limits", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const { tree } = drive(list, bounds);
      for (const agent of tree.state.agents.values()) {
        expect(agent.live.size).toBeLessThanOrEqual(bounds.liveChildren);
        expect(agent.depth).toBeLessThanOrEqual(bounds.maxDepth);
      }
      expect(tree.state.runsCreated).toBeLessThanOrEqual(bounds.runsPerTree);
      const running = [...tree.state.runs.values()].filter((run) => run.state === "running").length;
      const queued = [...tree.state.runs.values()].filter((run) => run.state === "queued").length;
      expect([tree.state.running, tree.state.queued]).toEqual([running, queued]);
    }),
    { numRuns: RUNS },
  );
});

test("the ledger is the sum of known and estimated usage; later usage replaces its estimate", () => {
  let corrected = 0;
  let outside = 0;
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const { tree, rows } = drive(list, bounds);
      const aborted = new Map<string, number>();
      /** What each session of an outside child has used, in the attempt under way. */
      const sessions = new Map<string, number>();
      let tokens = 0;
      for (const fact of factsOf(rows)) {
        if (fact.type === "effect-repeated") sessions.delete(fact.effect);
        if ("used" in fact && "effect" in fact && fact.used !== undefined) {
          const before = sessions.get(fact.effect) ?? 0;
          const now = Math.max(before, fact.used.input + fact.used.output);
          sessions.set(fact.effect, now);
          tokens += now - before;
          outside += now;
        }
        if (!("usage" in fact) || fact.usage === null) continue;
        tokens += fact.usage.input + fact.usage.output;
        if (fact.type === "usage-estimated" && fact.aborted === true)
          aborted.set(fact.effect, fact.usage.input + fact.usage.output);
        if (fact.type !== "usage-learnt") continue;
        tokens -= aborted.get(fact.effect) ?? Number.NaN;
        corrected += 1;
      }
      expect(tree.state.ledger.tokens).toBe(tokens);
      const reserved = [...tree.state.effects.values()].map((effect) => effect.reserved?.tokens ?? 0);
      expect(tree.state.ledger.reservedTokens).toBe(reserved.reduce((sum, one) => sum + one, 0));
    }),
    { numRuns: RUNS },
  );
  expect(corrected).toBeGreaterThan(0);
  expect(outside).toBeGreaterThan(0);
});

test("the random driver reaches every kind of fact and every way to end", () => {
  const facts = new Set<string>();
  const ends = new Set<string>();
  for (let seed = 1; seed <= 800; seed += 1) {
    const list = seededNumbers(seed, 3_000);
    const bounds = {
      maxDepth: 1 + (seed % 3),
      liveChildren: 1 + (seed % 4),
      runsPerTree: 60,
      tokensPerTree: seed % 4 === 0 ? 5_000 : null,
      modelCallsPerRequest: seed % 5 === 0 ? 4 : 1_000,
      delegatedIterations: 3,
      turnSeconds: seed % 3 === 0 ? 60 : 3_600,
    };
    for (const fact of factsOf(drive(list, bounds).rows)) {
      facts.add(fact.type);
      if (fact.type === "question-asked" && fact.call === undefined) facts.add(`${fact.type}/calls`);
      if (fact.type === "answer-given" && fact.refused !== undefined) facts.add(`${fact.type}/${fact.refused}`);
      if (fact.type === "answer-given" && fact.grant !== undefined) facts.add("answer granted for the tree");
      if (fact.type === "run-state-changed") facts.add(`${fact.type}/${fact.state}`);
      if (fact.type === "runner-message-sent") facts.add(`${fact.type}/${fact.kind}`);
      if (fact.type === "question-asked" && fact.ask !== undefined) facts.add(`${fact.type}/ask`);
      if (fact.type === "tool-finished" && fact.whole !== undefined) facts.add(`${fact.type}/whole`);
      if (fact.type === "turn-ended") facts.add(`${fact.type}/${fact.reason ?? ""}`);
      if (fact.type === "run-ended") ends.add(`${fact.status}/${fact.reason ?? ""}`);
    }
  }
  expect(facts).toContain("announcement-blocked");
  expect(facts).toContain("context-compacted");
  expect(facts).toContain("results-shortened");
  expect(facts).toContain("run-undeliverable");
  expect(facts).toContain("nudge-given");
  expect(facts).toContain("question-asked");
  expect(facts).toContain("answer-given");
  expect(facts).toContain("run-state-changed/needs_input");
  expect(facts).toContain("rights-changed");
  expect(facts).toContain("catalog-changed");
  expect(facts).toContain("question-asked/calls");
  expect([...facts].some((fact) => fact.startsWith("answer-given/"))).toBe(true);
  expect(facts).toContain("answer granted for the tree");
  expect(facts).toContain("tool-finished/whole");
  expect(facts).toContain("turn-ended/turn-timeout");
  expect(facts).toContain("question-asked/ask");
  for (const kind of ["answer", "steer", "report-accepted", "report-refused"])
    expect(facts).toContain(`runner-message-sent/${kind}`);
  for (const type of ["started", "progressed", "asked", "reported", "ended", "told"])
    expect(facts).toContain(`runner-${type}`);
  expect(facts.size).toBeGreaterThanOrEqual(48);
  for (const end of [
    "ok/",
    "ok/no-report",
    "error/no-report",
    "error/iteration-limit",
    "error/token-limit",
    "error/model-call-limit",
    "timeout/deadline",
    "timeout/queue-timeout",
    "cancelled/",
    "cancelled/parent-ended",
    "interrupted/runner-lost",
    "error/runner-died",
    "error/runner-failed",
    "error/invalid-output",
  ]) {
    expect(ends).toContain(end);
  }
});
