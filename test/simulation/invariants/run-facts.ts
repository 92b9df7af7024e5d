/**
 * Runs: I1 (one run per spawn), I2 (one end), I4/I14 (delivered once), I13 (no report after the end), I17 (limits), I18
 * (rights).
 */

import type { Fact } from "../../../src/core/event.ts";
import { jsonObjectIs } from "../../../src/core/values/json.ts";
import { replyPartsOf } from "../../../src/core/values/message.ts";
import { demand } from "./violation.ts";
import { liveAgent, type WatchedRun, type WatchedTree, type Moment } from "./watched-tree.ts";

export function takeRunFact(tree: WatchedTree, fact: Fact, moment: Moment): void {
  const { seq } = moment;
  switch (fact.type) {
    case "run-created":
      return created(tree, fact, moment);
    case "run-started":
      return started(tree, openRun(tree, fact.run, seq), moment);
    case "run-state-changed":
      openRun(tree, fact.run, seq).state = fact.state;
      return;
    case "run-reported":
      openRun(tree, fact.run, seq).reports += 1;
      return;
    case "run-ended":
      return ended(tree, fact, moment);
    case "tool-answered":
      if (fact.run !== undefined) tell(tree, fact.run, "answer", fact.agent, moment);
      return;
    case "message-sent":
      if (fact.run !== undefined) tell(tree, fact.run, "line", fact.to, moment);
      return;
    case "run-undeliverable":
      return tell(tree, fact.run, "undeliverable", null, moment);
    case "run-returned":
      return tell(tree, fact.run, "returned", null, moment);
    case "turn-started":
      for (const run of fact.placed ?? []) tell(tree, run, "announcement", fact.agent, moment);
      return;
    case "announcement-queued":
      return announced(tree, fact, moment);
    case "nudge-given":
      return nudged(tree, fact, moment);
    case "erasure-asked":
      demand(
        "I4",
        tree.runs.get(fact.run)?.told.length === 1,
        () => `row ${seq} erases run ${fact.run} before it is told`,
      );
      return;
    default:
  }
}

/** The run, which must exist and not have ended. */
function openRun(tree: WatchedTree, number: number, seq: number): WatchedRun {
  const run = tree.runs.get(number);
  demand("I1", run !== undefined, () => `row ${seq} names run ${number}, which was never created`);
  demand("I2", run.state !== "ended", () => `run ${number} has ended, and row ${seq} changes it`);
  return run;
}

function created(tree: WatchedTree, fact: Extract<Fact, { type: "run-created" }>, moment: Moment): void {
  const { seq, now } = moment;
  const parent = liveAgent(tree, fact.parent);
  demand("I19", parent !== undefined, () => `row ${seq} creates run ${fact.run} below an agent that is gone`);
  demand(
    "I1",
    fact.run === tree.runs.size + 1,
    () => `row ${seq} creates run ${fact.run} as number ${tree.runs.size + 1}`,
  );
  for (const run of tree.runs.values()) {
    demand(
      "I1",
      run.id !== fact.id && run.agent !== fact.agent,
      () => `row ${seq} uses the id of run ${run.number} again`,
    );
  }
  const limits = tree.settings?.limits;
  const depth = parent.depth + 1;
  demand("I17", depth <= (limits?.maxDepth ?? 0), () => `run ${fact.run} is at depth ${depth}`);
  demand("I17", fact.run <= (limits?.runsPerTree ?? 0), () => `run ${fact.run} is over the limit of runs`);
  const together = fact.mode === "background" && fact.announce === undefined;
  const own = parent.turn === null ? `run:${fact.run}` : `turn:${parent.turn.number}`;
  tree.runs.set(fact.run, {
    number: fact.run,
    id: fact.id,
    agent: fact.agent,
    name: nameOf(fact, moment),
    parent: fact.parent,
    mode: fact.mode,
    each: fact.announce === "each",
    unannounced: fact.announce === "none",
    turn: parent.turn?.number ?? null,
    batch: together ? (fact.group === undefined ? own : `group:${fact.group}`) : null,
    timeoutMs: fact.timeoutMs,
    definition: fact.definition,
    parkedMs: 0,
    parkedNow: null,
    createdNow: now,
    startedNow: null,
    endedNow: null,
    state: "queued",
    status: null,
    reason: null,
    reports: 0,
    nudges: 0,
    queued: 0,
    told: [],
    token: null,
  });
  const held = new Set(parent.tools);
  const granted = (tree.catalog.get(fact.definition)?.tools ?? [])
    .map((tool) => tool.name)
    .filter((name) => parent.kind === "host" || held.has(name));
  tree.agents.set(fact.run, {
    number: fact.run,
    id: fact.agent,
    parent: fact.parent,
    depth,
    kind: "background",
    tools: granted,
    granted,
    maxIterations: fact.iterations,
    alive: true,
    inbox: [],
    turn: null,
    turns: 0,
    pending: new Set(),
    owed: new Set(),
    sight: [],
  });
}

/** Rule D4: the label, else the first 60 code points of the task. */
function nameOf({ call }: Extract<Fact, { type: "run-created" }>, { facts, texts }: Moment): string {
  const parts = facts[0]?.type === "model-replied" ? replyPartsOf(texts[0]) : [];
  const part = parts.find((given) => given.type === "tool-call" && given.id === call);
  const input = part?.type === "tool-call" ? part.input : texts[0];
  const { label, task } = jsonObjectIs(input) ? input : {};
  if (typeof label === "string") return label;
  return typeof task === "string" ? [...task].slice(0, 60).join("") : "";
}

function started(tree: WatchedTree, run: WatchedRun, { seq, now }: Moment): void {
  demand("I2", run.state === "queued", () => `run ${run.number} starts a second time in row ${seq}`);
  let live = 1;
  for (const other of tree.runs.values()) {
    if (other.parent === run.parent && other.startedNow !== null && other.state !== "ended") live += 1;
  }
  demand(
    "I17",
    live <= (tree.settings?.limits.liveChildren ?? 0),
    () => `row ${seq}: ${live} live children of one agent`,
  );
  run.state = "running";
  run.startedNow = now;
  const child = tree.agents.get(run.number);
  if (child === undefined) return;
  child.turns += 1;
  child.turn = { iterations: 0, nudges: 0, number: child.turns, posts: [], summing: false };
}

function ended(tree: WatchedTree, fact: Extract<Fact, { type: "run-ended" }>, { seq, now }: Moment): void {
  const run = openRun(tree, fact.run, seq);
  run.state = "ended";
  run.endedNow = now;
  run.status = fact.status;
  run.reason = fact.reason ?? null;
  const well = fact.reason === undefined || fact.reason === "no-report";
  demand("I7", fact.status !== "ok" || well, () => `run ${run.number} ends ok by ${fact.reason} in row ${seq}`);
  const kind = fact.report === "tool";
  demand("I13", !kind || run.reports > 0, () => `run ${run.number} has a report in row ${seq} that it never made`);
  const child = tree.agents.get(fact.run);
  if (child === undefined) return;
  child.alive = false;
  child.turn = null;
  child.inbox = [];
}

/** I4: delivered in one way, once, and only after the end. */
function tell(tree: WatchedTree, number: number, road: string, to: number | null, { seq }: Moment): void {
  const run = tree.runs.get(number);
  demand("I4", run !== undefined, () => `row ${seq} tells of run ${number}, which was never created`);
  demand("I4", run.state === "ended", () => `row ${seq} tells of run ${number} before it has ended`);
  run.told.push(road);
  demand("I4", run.told.length === 1, () => `run ${number} is told again in row ${seq}: ${run.told.join(", ")}`);
  demand("I4", to === null || to === run.parent, () => `run ${number} is told to agent ${to} in row ${seq}`);
  demand(
    "I4",
    (road === "answer") === (run.mode === "awaited") || road === "undeliverable",
    () => `run ${number}: ${road}`,
  );
  demand("I4", (road === "returned") === run.unannounced, () => `run ${number} goes by the wrong road: ${road}`);
  const parent = to === null ? undefined : tree.agents.get(to);
  tree.agents.get(run.parent)?.pending.delete(number);
  demand("I6", to === null || parent?.alive === true, () => `row ${seq} tells run ${number} to an agent that is gone`);
  if (parent !== undefined && road !== "line") parent.owed.add(run.id);
}

function announced(tree: WatchedTree, fact: Extract<Fact, { type: "announcement-queued" }>, { seq }: Moment): void {
  demand("I16", fact.runs.length > 0, () => `row ${seq} announces nothing`);
  for (const number of fact.runs) {
    const run = tree.runs.get(number);
    demand("I14", run?.state === "ended", () => `row ${seq} announces run ${number}, which has not ended`);
    demand("I14", run.parent === fact.agent, () => `row ${seq} announces run ${number} to agent ${fact.agent}`);
    run.queued += 1;
    demand("I14", run.queued === 1, () => `run ${number} is announced again in row ${seq}`);
    tree.agents.get(fact.agent)?.pending.add(number);
  }
  for (const number of fact.stragglers ?? []) {
    const open = tree.runs.get(number)?.state !== "ended";
    demand("I14", open, () => `row ${seq} lists run ${number} as running, which has ended`);
  }
}

function nudged(tree: WatchedTree, fact: Extract<Fact, { type: "nudge-given" }>, { seq }: Moment): void {
  if (fact.about !== "report") return;
  const run = openRun(tree, fact.agent, seq);
  run.nudges += 1;
  demand("I7", run.nudges === 1, () => `run ${run.number} is nudged again in row ${seq}`);
}
