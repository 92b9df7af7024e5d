/** What facts about runs do to the state. */

import { agentAdd, agentRemove, requestBegin, runForget, turnNew } from "../agent/agent-facts.ts";
import { definitionWithin } from "../agent/rights.ts";
import { batchJoin } from "../announcements/batches.ts";
import type { Run, StateHandlers, TreeState } from "../state.ts";
import { clockNew, clockStart, clockStop } from "../values/timers.ts";

function queueLeave(state: TreeState, run: Run): void {
  const parent = state.agents.get(run.parent);
  state.queued -= 1;
  state.timers.delete(`queue:${run.number}`);
  if (parent !== undefined) parent.queue = parent.queue.filter((waiting) => waiting !== run.number);
}

function runClockStart({ timers }: TreeState, { number, clock, timeoutMs }: Run, at: number): void {
  clockStart(timers, `deadline:${number}`, clock, at, timeoutMs);
}

function runClockStop({ timers }: TreeState, { number, clock }: Run, at: number): void {
  clockStop(timers, `deadline:${number}`, clock, at);
}

export const runFacts = {
  "run-created"(state, fact, { at }) {
    const parent = state.agents.get(fact.parent);
    const definition = state.catalog.get(fact.definition);
    if (parent === undefined || definition === undefined || state.settings === null) return;
    const { run: number, call, mode, timeoutMs } = fact;
    const together = mode === "background" && fact.announce === undefined;
    state.runsCreated = number;
    if (call === null) requestBegin(state);
    state.numbers.set(fact.id, number);
    state.runs.set(number, {
      number,
      id: fact.id,
      agent: fact.agent,
      parent: fact.parent,
      mode,
      call,
      timeoutMs,
      announceEach: fact.announce === "each",
      unannounced: fact.announce === "none",
      batch: together ? batchJoin(state, parent, number, fact.group, at) : null,
      erase: fact.cleanup === "delete",
      typed: fact.typed === true,
      createdAt: at,
      state: "queued",
      startedAt: null,
      endedAt: null,
      clock: clockNew(),
      reports: 0,
      invalid: false,
      nudged: false,
      userMessages: 0,
      tokens: 0,
      cost: 0,
      outcome: null,
    });
    agentAdd(state, {
      number,
      id: fact.agent,
      kind: "background",
      parent: fact.parent,
      depth: parent.depth + 1,
      definition: definitionWithin(parent, definition, fact.model),
      maxIterations: fact.iterations,
      bytesSince: fact.size,
    });
    parent.queue.push(number);
    state.queued += 1;
    if (mode !== "awaited" || call === null) return;
    const open = { id: call, name: "subagent", effect: null, run: number, question: null, final: false };
    parent.turn?.calls.set(call, open);
    state.timers.set(`queue:${number}`, at + timeoutMs);
  },

  "run-started"(state, fact, { at }) {
    const run = state.runs.get(fact.run);
    const child = state.agents.get(fact.run);
    if (run === undefined || child === undefined || run.state !== "queued") return;
    queueLeave(state, run);
    run.state = "running";
    run.startedAt = at;
    state.running += 1;
    runClockStart(state, run, at);
    state.agents.get(run.parent)?.live.add(run.number);
    child.turn = turnNew(child);
  },

  "run-state-changed"(state, fact, { at }) {
    const run = state.runs.get(fact.run);
    if (run === undefined || run.outcome !== null || run.state === fact.state) return;
    if (run.state === "running") state.running -= 1;
    if (fact.state === "running") state.running += 1;
    if (fact.state === "needs_input") runClockStop(state, run, at);
    else if (run.clock.since === null) runClockStart(state, run, at);
    run.state = fact.state;
  },

  "run-reported"(state, { run: number, call: id, final }) {
    const run = state.runs.get(number);
    if (run === undefined) return;
    run.reports += 1;
    run.invalid = false;
    const turn = state.agents.get(number)?.turn ?? null;
    if (turn === null) return;
    turn.reported = true;
    if (id === undefined) return;
    turn.replyReported = true;
    if (final !== true) return;
    turn.calls.set(id, { id, name: "send_agent_message", effect: null, run: null, question: null, final });
  },

  "run-report-refused"(state, fact) {
    const run = state.runs.get(fact.run);
    if (run !== undefined) run.invalid = true;
  },

  "run-ended"(state, fact, { at }) {
    const run = state.runs.get(fact.run);
    if (run === undefined || run.outcome !== null) return;
    if (run.state === "queued") queueLeave(state, run);
    if (run.state === "running") state.running -= 1;
    runClockStop(state, run, at);
    run.state = "ended";
    run.endedAt = at;
    run.outcome = { status: fact.status, reason: fact.reason ?? null, report: fact.report };
    const child = state.agents.get(fact.run);
    if (child !== undefined) agentRemove(state, child);
    const parent = state.agents.get(run.parent);
    parent?.live.delete(fact.run);
    const batch = run.batch === null ? undefined : parent?.batches.get(run.batch);
    batch?.open.delete(fact.run);
    batch?.ended.push(fact.run);
  },

  "run-returned"(state, { run }) {
    runForget(state, run);
  },

  "run-undeliverable"(state, { run: number }) {
    const run = state.runs.get(number);
    const parent = run === undefined ? undefined : state.agents.get(run.parent);
    const batch = run === undefined || run.batch === null ? undefined : parent?.batches.get(run.batch);
    if (batch !== undefined) batch.ended = batch.ended.filter((ended) => ended !== number);
    const pending = parent?.pending ?? null;
    if (pending !== null) pending.runs = pending.runs.filter((ended) => ended !== number);
    runForget(state, number);
  },
} satisfies Partial<StateHandlers>;
