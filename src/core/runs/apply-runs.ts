/** What facts about runs do to the state. */

import { agentAdd, requestBegin, runForget, turnDrop, turnNew } from "../agent/apply-agent.ts";
import { rightsOf } from "../agent/rights.ts";
import type { Fact } from "../event.ts";
import type { Place } from "../place.ts";
import type { Run, TreeState } from "../state.ts";
import { timerClear, timerSet } from "../timers.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

/** The batch of a background run: its group, else the turn that started it, else itself. */
function batchKey(group: string | undefined, turn: number | undefined, run: number): string {
  if (group !== undefined) return `group:${group}`;
  return turn === undefined ? `run:${run}` : `turn:${turn}`;
}

export function applyRunCreated(state: TreeState, fact: FactOf<"run-created">, place: Place): void {
  const parent = state.agents.get(fact.parent);
  const made = state.catalog.get(fact.definition);
  if (parent === undefined || made === undefined || state.settings === null) return;
  const together = fact.mode === "background" && fact.announce !== "each";
  const batch = together ? batchKey(fact.group, parent.turn?.number, fact.run) : null;
  state.runsCreated = fact.run;
  if (fact.call === null) requestBegin(state);
  state.numbers.set(fact.id, fact.run);
  state.runs.set(fact.run, {
    number: fact.run,
    id: fact.id,
    agent: fact.agent,
    parent: fact.parent,
    mode: fact.mode,
    call: fact.call,
    timeoutMs: fact.timeoutMs,
    announceEach: fact.announce === "each",
    batch,
    erase: fact.cleanup === "delete",
    typed: fact.typed === true,
    createdAt: place.at,
    state: "queued",
    startedAt: null,
    endedAt: null,
    clockUsed: 0,
    clockSince: null,
    reports: 0,
    invalid: false,
    nudged: false,
    userMessages: 0,
    tokens: 0,
    cost: 0,
    outcome: null,
  });
  agentAdd(state, {
    number: fact.run,
    id: fact.agent,
    kind: "background",
    parent: fact.parent,
    depth: parent.depth + 1,
    definition: rightsOf(parent.definition, made, fact.model),
    maxIterations: fact.iterations,
    bytesSince: fact.size,
  });
  parent.queue.push(fact.run);
  state.queued += 1;
  if (batch !== null) {
    const known = parent.batches.get(batch);
    if (known === undefined) {
      parent.batches.set(batch, {
        key: batch,
        turn: parent.turn?.number ?? null,
        open: new Set([fact.run]),
        ended: [],
        passed: false,
      });
      timerSet(
        state.timers,
        `barrier:${parent.number}:${batch}`,
        place.at + state.settings.limits.barrierSeconds * 1_000,
      );
    } else {
      known.open.add(fact.run);
      known.turn = parent.turn?.number ?? null;
    }
  }
  if (fact.mode === "awaited" && fact.call !== null) {
    parent.turn?.calls.set(fact.call, {
      id: fact.call,
      name: "subagent",
      effect: null,
      run: fact.run,
      question: null,
      final: false,
    });
    timerSet(state.timers, `queue:${fact.run}`, place.at + fact.timeoutMs);
  }
}

function leaveQueue(state: TreeState, run: Run): void {
  const parent = state.agents.get(run.parent);
  state.queued -= 1;
  timerClear(state.timers, `queue:${run.number}`);
  if (parent === undefined) return;
  if (parent.queue[0] === run.number) parent.queue.shift();
  else parent.queue = parent.queue.filter((waiting) => waiting !== run.number);
}

function clockStart(state: TreeState, run: Run, at: number): void {
  run.clockSince = at;
  timerSet(state.timers, `deadline:${run.number}`, at + Math.max(0, run.timeoutMs - run.clockUsed));
}

function clockStop(state: TreeState, run: Run, at: number): void {
  if (run.clockSince !== null) run.clockUsed += at - run.clockSince;
  run.clockSince = null;
  timerClear(state.timers, `deadline:${run.number}`);
}

export function applyRunStarted(state: TreeState, fact: FactOf<"run-started">, place: Place): void {
  const run = state.runs.get(fact.run);
  const child = state.agents.get(fact.run);
  if (run === undefined || child === undefined || run.state !== "queued") return;
  leaveQueue(state, run);
  run.state = "running";
  run.startedAt = place.at;
  state.running += 1;
  clockStart(state, run, place.at);
  state.agents.get(run.parent)?.live.add(run.number);
  child.turn = turnNew(child);
}

export function applyRunStateChanged(state: TreeState, fact: FactOf<"run-state-changed">, place: Place): void {
  const run = state.runs.get(fact.run);
  if (run === undefined || run.outcome !== null || run.state === fact.state) return;
  if (run.state === "running") state.running -= 1;
  if (fact.state === "running") state.running += 1;
  if (fact.state === "needs_input") clockStop(state, run, place.at);
  else if (run.clockSince === null) clockStart(state, run, place.at);
  run.state = fact.state;
}

export function applyRunReported(state: TreeState, fact: FactOf<"run-reported">, place: Place): void {
  const run = state.runs.get(fact.run);
  if (run === undefined) return;
  run.reports += 1;
  run.invalid = false;
  const turn = state.agents.get(fact.run)?.turn;
  if (turn === null || turn === undefined) return;
  turn.reported = true;
  turn.report = { seq: place.seq, call: fact.call };
  if (fact.final !== true) return;
  const { call: id } = fact;
  turn.calls.set(id, { id, name: "send_agent_message", effect: null, run: null, question: null, final: true });
}

export function applyRunReportRefused(state: TreeState, fact: FactOf<"run-report-refused">): void {
  const run = state.runs.get(fact.run);
  if (run !== undefined) run.invalid = true;
}

export function applyRunEnded(state: TreeState, fact: FactOf<"run-ended">, place: Place): void {
  const run = state.runs.get(fact.run);
  if (run === undefined || run.outcome !== null) return;
  if (run.state === "queued") leaveQueue(state, run);
  if (run.state === "running") state.running -= 1;
  clockStop(state, run, place.at);
  run.state = "ended";
  run.endedAt = place.at;
  run.outcome = { status: fact.status, reason: fact.reason ?? null, report: fact.report };
  const child = state.agents.get(fact.run);
  if (child !== undefined) {
    turnDrop(state, child);
    for (const batch of child.batches.keys()) timerClear(state.timers, `barrier:${fact.run}:${batch}`);
    state.agents.delete(fact.run);
    state.numbers.delete(child.id);
  }
  const parent = state.agents.get(run.parent);
  parent?.live.delete(fact.run);
  const batch = run.batch === null ? undefined : parent?.batches.get(run.batch);
  batch?.open.delete(fact.run);
  batch?.ended.push(fact.run);
}

export function applyRunUndeliverable(state: TreeState, fact: FactOf<"run-undeliverable">): void {
  const run = state.runs.get(fact.run);
  const parent = run === undefined ? undefined : state.agents.get(run.parent);
  const batch = run === undefined || run.batch === null ? undefined : parent?.batches.get(run.batch);
  if (batch !== undefined) batch.ended = batch.ended.filter((ended) => ended !== fact.run);
  if (parent !== undefined && parent.pending !== null) {
    parent.pending.runs = parent.pending.runs.filter((ended) => ended !== fact.run);
  }
  runForget(state, fact.run);
}
