import { expect, test } from "vitest";
import type { Errand, Fact, ModelRequest, TreeEvent } from "../../src/index.ts";
import { callTools, fail, hang, say, type Script } from "../../src/testing/index.ts";
import { occurrences, parentRequests, requestJson, userText } from "../support/model-requests.ts";
import { report } from "../support/scripted-replies.ts";
import { acceptedFacts, eventsNow } from "../support/tree-facts.ts";
import { openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const TREES = 20;
const TURNS = 5;
const DELEGATIONS = 10;
const WAYS = ["report", "twice", "silence", "mute", "crash", "broken", "timeout", "cancel"] as const;
type Way = (typeof WAYS)[number];

interface Delegation {
  /** Unique, and marks its findings. */
  readonly task: string;
  readonly way: Way;
  readonly mode: "awaited" | "together" | "each" | "group";
}

/** A small generator of numbers, so that the mixture is the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

function plan(tree: number): Delegation[][] {
  const next = numbers(tree + 1);
  const modes = ["awaited", "together", "together", "each", "group"] as const;
  return Array.from({ length: TURNS }, (_, turn) =>
    Array.from({ length: DELEGATIONS }, (__, index) => {
      const way = WAYS[next(WAYS.length)] ?? "report";
      return { task: `${way} <${tree}.${turn}.${index}>`, way, mode: modes[next(modes.length)] ?? "together" };
    }),
  );
}

function call({ task, way, mode }: Delegation): { name: string; input: Record<string, string | number> } {
  const timeout_seconds = way === "timeout" ? 7 : 100;
  if (mode === "awaited") return { name: "subagent", input: { task, timeout_seconds } };
  const more = mode === "each" ? { announce: "each" } : mode === "group" ? { group: "g" } : {};
  return { name: "start_background_agent", input: { task, timeout_seconds, ...more } };
}

const child: Script = (_request, { task, replies }) => {
  const [way] = task.split(" ");
  if (way === "report") return replies === 0 ? report(`FOUND ${task}`) : say("done");
  if (way === "twice") return replies < 2 ? report(replies === 0 ? "so far nothing" : `FOUND ${task}`) : say("done");
  if (way === "silence") return say(`FOUND ${task}`);
  if (way === "mute") return say("NO_REPLY");
  if (way === "crash") return fail({ message: `no credit for ${task}` });
  if (way === "broken") throw new Error(`broken ${task}`);
  return hang();
};

const expected: Record<Way, readonly [status: string, reason: string | null]> = {
  report: ["ok", null],
  twice: ["ok", null],
  silence: ["ok", "no-report"],
  mute: ["ok", "no-report"],
  crash: ["error", "provider-error"],
  broken: ["error", "provider-error"],
  timeout: ["timeout", "deadline"],
  cancel: ["cancelled", null],
};

/** By which road each run was told to its parent, from the journal. */
function roads(events: readonly TreeEvent[]): Map<number, string[]> {
  const found = new Map<number, string[]>();
  const add = (run: number, road: string): void => void found.set(run, [...(found.get(run) ?? []), road]);
  for (const fact of events.flatMap((event): readonly Fact[] => (event.rejected === null ? event.facts : []))) {
    if (fact.type === "tool-answered" && fact.run !== undefined) add(fact.run, "answer");
    if (fact.type === "message-sent" && fact.run !== undefined) add(fact.run, "line");
    if (fact.type === "turn-started") for (const run of fact.placed ?? []) add(run, "announcement");
    if (fact.type === "run-undeliverable") add(fact.run, "undeliverable");
  }
  return found;
}

async function projectionAgrees(errand: Errand, tree: string): Promise<void> {
  const events = await eventsNow(errand, tree);
  const told = roads(events);
  const ended = new Set(acceptedFacts(events, "run-ended").map((fact) => fact.run));
  for (const run of (await errand.listRuns({ limit: 10_000 })).filter((known) => known.tree === tree)) {
    expect(run.delivery === "placed", `${run.name} ${run.delivery}`).toBe(told.has(run.number));
    expect(run.state === "ended").toBe(ended.has(run.number));
  }
}

/**
 * How often a text comes into a context, over the requests in their order; and how often it stands in one of them at
 * most.
 */
function appearances(
  requests: readonly ModelRequest[],
  text: string,
): { readonly begun: number; readonly most: number } {
  let begun = 0;
  let most = 0;
  let there = false;
  for (const request of requests) {
    const count = occurrences(requestJson(request), text);
    if (count > 0 && !there) begun += 1;
    there = count > 0;
    most = Math.max(most, count);
  }
  return { begun, most };
}

test("I1–I6, I13, I14: each of 1,000 delegations that report, fail or crash is delivered once", async () => {
  const world = createTestWorld();
  const plans = Array.from({ length: TREES }, (_, tree) => plan(tree));
  const all = plans.flat(2);
  expect(all).toHaveLength(1_000);
  const parent: Script = (request) => {
    const asked = /(?:^|\n)go (\d+)\.(\d+)/.exec(userText(request.messages.at(-1)));
    const wanted = asked === null ? undefined : plans[Number(asked[1])]?.[Number(asked[2])];
    return wanted === undefined ? say("NO_REPLY") : callTools(wanted.map(call));
  };
  const { errand, models } = await openTestErrand({ parent, child }, { world, slots: 1_000 });
  const agents = await Promise.all(plans.map(() => errand.openAgent()));
  for (let turn = 0; turn < TURNS; turn += 1) {
    await Promise.all(agents.map((agent, tree) => agent.post(`go ${tree}.${turn}`)));
    await world.advance(2_000);
    for (let round = 0; round < 4; round += 1) {
      const open = (await errand.listRuns({ limit: 10_000 })).filter((run) => run.state !== "ended");
      for (const run of open.filter(({ name }) => name.startsWith("cancel"))) await errand.cancel(run.id);
      await world.advance(4_000);
      await projectionAgrees(errand, agents[turn]?.id ?? "");
    }
  }
  await world.advance(330_000);
  const runs = await errand.listRuns({ limit: 10_000 });
  expect(runs).toHaveLength(1_000);
  expect(new Set(runs.map((run) => run.id)).size).toBe(1_000);
  for (const [tree, agent] of agents.entries()) {
    const events = await eventsNow(errand, agent.id);
    const own = runs.filter((run) => run.tree === agent.id);
    const requests = parentRequests(models).filter((request) =>
      userText(request.messages[0]).startsWith(`go ${tree}.0`),
    );
    const wanted = plans[tree]?.flat() ?? [];
    const created = acceptedFacts(events, "run-created");
    // I1
    expect(created.map((fact) => fact.run)).toEqual(wanted.map((_, index) => index + 1));
    expect(own.map((run) => run.name).toSorted()).toEqual(wanted.map(({ task }) => task).toSorted());
    // I2
    const ended = acceptedFacts(events, "run-ended");
    expect(ended.map((fact) => fact.run).toSorted((a, b) => a - b)).toEqual(created.map((fact) => fact.run));
    const told = roads(events);
    for (const run of own) {
      const delegation = wanted.find(({ task }) => task === run.name);
      const { way, mode } = delegation ?? { way: "report" as Way, mode: "awaited" };
      expect([run.state, run.status, run.reason], run.name).toEqual(["ended", ...expected[way]]);
      expect(run.mode).toBe(mode === "awaited" ? "awaited" : "background");
      // I4, I5, I14: one road, once
      const byLine = mode === "each" && run.report === "tool";
      expect(told.get(run.number), run.name).toEqual([
        mode === "awaited" ? "answer" : byLine ? "line" : "announcement",
      ]);
      expect(run.delivery).toBe("placed");
      const findings = appearances(requests, `FOUND ${run.name}`);
      const speaks = way === "report" || way === "twice" || way === "silence";
      expect(findings, run.name).toEqual(speaks ? { begun: 1, most: 1 } : { begun: 0, most: 0 });
    }
    inOrder(events);
  }
}, 120_000);

/** I3, I6, I13: the order of facts in the rows of one journal. */
function inOrder(events: readonly TreeEvent[]): void {
  const modes = new Map(acceptedFacts(events, "run-created").map((fact) => [fact.run, fact]));
  const over = new Set<number>();
  for (const { facts, rejected } of events) {
    if (rejected !== null) continue;
    for (const fact of facts) {
      if (fact.type === "run-reported") expect(over.has(fact.run)).toBe(false);
      if (fact.type === "turn-started") for (const run of fact.placed ?? []) expect(over.has(run)).toBe(true);
      if (fact.type === "announcement-queued") {
        const cause = facts.some(({ type }) => ["run-ended", "turn-ended", "barrier-passed"].includes(type));
        expect(cause).toBe(true);
        for (const run of fact.runs) expect(over.has(run)).toBe(true);
      }
      if (fact.type !== "run-ended") continue;
      over.add(fact.run);
      const { mode, announce } = modes.get(fact.run) ?? {};
      const same = facts.some((other) => {
        if (mode === "awaited") return other.type === "tool-answered" && other.run === fact.run;
        if (fact.report === "tool") return other.type === "message-sent" && other.run === fact.run;
        return other.type === "announcement-queued" && other.runs.includes(fact.run);
      });
      if (mode === "awaited" || announce === "each") expect(same).toBe(true);
    }
  }
}
