/**
 * `decide`: from the state of a tree and one input to the facts and effects that follow. Read Errand from here:
 * `INPUTS` shows what each input does, `runTask` what can follow from it.
 *
 * Invariants:
 *  1. Pure and total: the same state and step give the same decision, and no sequence of inputs throws.
 *  2. The state changes while it decides (step-work.ts). Folding the recorded facts gives the same state.
 *  3. A result that names no open effect and attempt is rejected: it is recorded and changes nothing.
 */

import { callModelAgain, retryBudget } from "./agent/call-model.ts";
import { modelFailed, modelReplied, usageLearnt } from "./agent/model-results.ts";
import { effectsLost, toolFinished, toolNotRun } from "./agent/tool-calls.ts";
import { turnSeconds } from "./agent/turn-clock.ts";
import { continueTurn, endTurn, failTurn, nextTurn } from "./agent/turns.ts";
import { passBarrier } from "./announcements/batches.ts";
import type { FactOf } from "./event.ts";
import { messagePosted } from "./inbox/inbox.ts";
import type { Inputs } from "./input.ts";
import { runnerAsked, runnerEnded, runnerProgressed, runnerReported, runnerTold } from "./outside/outside-child.ts";
import { passMessages } from "./outside/session.ts";
import { answerGiven } from "./questions/questions.ts";
import { cancelAsked, closeAsked } from "./runs/cancel.ts";
import { endRun } from "./runs/end-run.ts";
import { treeForked } from "./runs/fork.ts";
import { runAsked, startQueued } from "./runs/spawn.ts";
import type { TreeState } from "./state.ts";
import type { Deciding, Decision, RunEnd, Step, StepContexts, Task } from "./step.ts";
import { type StepWork, stepWork } from "./step-work.ts";
import { asStepKey } from "./values/ids.ts";
import { type Settings, settingsOf } from "./values/limits.ts";
import { timersDue } from "./values/timers.ts";

const NOT_OPEN: Settings = settingsOf();

export function decide(state: TreeState, step: Step, contexts: StepContexts): Decision {
  const settings = step.input.type === "tree-opened" ? step.input.settings : (state.settings ?? NOT_OPEN);
  const work = stepWork(state, settings, step, contexts);
  const rejected = receive(work, step.input);
  if (rejected === null) {
    if (state.budgetQueue.length > 0) work.later({ do: "retry-budget" });
    runTasks(work);
  }
  state.seq += 1;
  state.at = Math.max(state.at, step.at);
  return work.decision(rejected);
}

/** Accepts an input. Returns why it is rejected, or null. */
function receive<Type extends keyof Inputs>(d: Deciding, input: FactOf<Type>): string | null {
  if (d.state.settings === null && input.type !== "tree-opened") return "the tree is not open";
  return INPUTS[input.type](d, input);
}

function accepted(d: Deciding): null {
  d.accept();
  return null;
}

const INPUTS: { readonly [Type in keyof Inputs]: (d: Deciding, input: FactOf<Type>) => string | null } = {
  "tree-opened"(d, { catalog, definition, kind }) {
    if (d.state.settings !== null) return "the tree is open already";
    const root = catalog.find(({ name }) => name === definition);
    if (root?.runner !== undefined && kind !== "host") return "its definition has a runner, so it can only be a child";
    return root === undefined ? "its definition is unknown" : accepted(d);
  },
  "catalog-changed": accepted,
  "rights-changed": accepted,
  "tree-forked": treeForked,
  "message-posted": messagePosted,
  "run-asked": runAsked,
  "model-replied": modelReplied,
  "model-failed": modelFailed,
  "usage-learnt": usageLearnt,
  "tool-finished": toolFinished,
  "tool-not-run": toolNotRun,
  "effects-lost": effectsLost,
  "runner-progressed": runnerProgressed,
  "runner-asked": runnerAsked,
  "runner-reported": runnerReported,
  "runner-ended": runnerEnded,
  "runner-told": runnerTold,
  "slots-offered"(d) {
    for (const agent of d.state.agents.values())
      if (agent.queue.length > 0) d.later({ do: "start-queued", agent: agent.number });
    return accepted(d);
  },
  "timers-due": handleTimers,
  "answer-given": answerGiven,
  "cancel-asked": cancelAsked,
  "close-asked": closeAsked,
  "texts-erased": (d, { effect }) => (d.state.effects.has(effect) ? accepted(d) : "no such effect is open"),
};

function handleTimers(d: Deciding): string | null {
  const due = timersDue(d.state.timers, d.at);
  if (due.length === 0) return "no timer is due";
  d.accept();
  for (const name of due) {
    const [kind, ...rest] = name.split(":");
    const subject = rest.join(":");
    const timeout = (reason: string): Task => ({
      do: "end-run",
      run: Number(subject),
      end: { status: "timeout", reason },
    });
    if (kind === "deadline") d.later(timeout("deadline"));
    if (kind === "queue") d.later(timeout("queue-timeout"));
    if (kind === "turn") d.later({ do: "fail-turn", agent: Number(subject), end: turnTimeout(d) });
    if (kind === "retry") callModelAgain(d, asStepKey(subject));
    if (kind === "barrier") passBarrier(d, Number(rest[0]), rest.slice(1).join(":"));
  }
  return null;
}

function turnTimeout({ state }: Deciding): RunEnd {
  const error =
    `it worked for ${turnSeconds(state)} s, not counting children and questions; ` +
    "send another message to go on, limits.turnSeconds allows more";
  return { status: "timeout", reason: "turn-timeout", error };
}

/**
 * Runs all tasks. Model calls that wait are then tried again if a task released some of the budget, or ended the turn
 * that had asked the user for more model calls.
 */
function runTasks(work: StepWork): void {
  const { ledger, requestCalls } = work.state;
  const reserved = (): number => ledger.reservedTokens + ledger.reservedCost;
  for (let again = true; again;) {
    let peak = 0;
    const { question } = requestCalls;
    for (let task = work.nextTask(); task !== undefined; task = work.nextTask()) {
      runTask(work, task);
      if (work.state.budgetQueue.length > 0) peak = Math.max(peak, reserved());
    }
    const unasked = question !== null && requestCalls.question === null;
    again = work.state.budgetQueue.length > 0 && (reserved() < peak || unasked);
    if (again) work.later({ do: "retry-budget" });
  }
}

function runTask(d: Deciding, task: Task): void {
  switch (task.do) {
    case "continue-turn":
      return continueTurn(d, task.agent);
    case "next-turn":
      return nextTurn(d, task.agent);
    case "pass-messages":
      return passMessages(d, task.agent);
    case "end-turn":
      return endTurn(d, task.agent);
    case "fail-turn":
      return failTurn(d, task.agent, task.end);
    case "end-run":
      return endRun(d, task.run, task.end);
    case "start-queued":
      return startQueued(d, task.agent);
    case "retry-budget":
      return retryBudget(d);
  }
}
