/**
 * `decide`: from the state of a tree and one input to the facts and intentions that follow. The whole behaviour of Errand begins
 * here: read `receive` for what may come in, and `look` for what may then happen.
 *
 * Invariants:
 *  1. Pure and total: the same state and step give the same decision, and no sequence of inputs throws.
 *  2. The state it is given is advanced by what it decides (deciding.ts); folding the recorded facts gives the same state.
 *  3. A result that names no open effect and attempt is late: it is recorded and changes nothing.
 */

import { callModelAgain, spend } from "./agent/call-model.ts";
import { modelFailed, modelReplied, usageLearnt } from "./agent/model-calls.ts";
import { effectsLost, toolFinished } from "./agent/tool-calls.ts";
import { endTurn, failTurn, iterate, settle } from "./agent/turns.ts";
import { barrierPassed } from "./announcements/batches.ts";
import { type Decision, deciding, type DecidingWork, type Observer, type Step, type Task } from "./deciding.ts";
import type { Input } from "./event.ts";
import { asStepKey } from "./ids.ts";
import { messagePosted } from "./inbox/receive-message.ts";
import { type Settings, settingsOf } from "./limits.ts";
import { answerGiven } from "./questions/questions.ts";
import { cancelAsked, closeAsked } from "./runs/cancel.ts";
import { endRun } from "./runs/end-run.ts";
import { fill } from "./runs/slots.ts";
import { treeForked } from "./runs/fork.ts";
import { runAsked } from "./runs/spawn.ts";
import type { TreeState } from "./state.ts";
import { timersDue } from "./timers.ts";

const NOT_OPEN: Settings = settingsOf();

export function decide(state: TreeState, step: Step, observe?: Observer): Decision {
  const settings = step.input.type === "tree-opened" ? step.input.settings : (state.settings ?? NOT_OPEN);
  const work = deciding(state, settings, step, observe);
  const late = receive(work, step.input);
  if (late === null && state.budgetQueue.length > 0) work.later({ do: "spend" });
  if (late === null) lookAll(work);
  state.seq += 1;
  state.at = Math.max(state.at, step.at);
  return work.decision(late);
}

/** Takes an input in. Returns why it changes nothing, or null. */
function receive(work: DecidingWork, input: Input): string | null {
  if (work.state.settings === null && input.type !== "tree-opened") return "the tree is not open";
  switch (input.type) {
    case "tree-opened": {
      if (work.state.settings !== null) return "the tree is open already";
      if (!input.catalog.some((definition) => definition.name === input.definition)) return "its definition is unknown";
      work.accept();
      return null;
    }
    case "catalog-changed":
    case "rights-changed":
      work.accept();
      return null;
    case "tree-forked":
      return treeForked(work);
    case "message-posted":
      return messagePosted(work, input);
    case "run-asked":
      return runAsked(work, input);
    case "model-replied":
      return modelReplied(work, input);
    case "model-failed":
      return modelFailed(work, input);
    case "usage-learnt":
      return usageLearnt(work, input);
    case "tool-finished":
      return toolFinished(work, input);
    case "effects-lost":
      return effectsLost(work, input);
    case "slots-offered":
      work.accept();
      for (const agent of work.state.agents.values())
        if (agent.queue.length > 0) work.later({ do: "fill", agent: agent.number });
      return null;
    case "timers-due":
      return timersCame(work);
    case "answer-given":
      return answerGiven(work, input);
    case "cancel-asked":
      return cancelAsked(work, input);
    case "close-asked":
      return closeAsked(work);
    case "texts-erased": {
      if (!work.state.effects.has(input.effect)) return "no such effect is open";
      work.accept();
      return null;
    }
  }
}

/**
 * Looks at everything; and once more at calls that wait for the budget, if what ended meanwhile has left room for them, or was the one that had asked
 * the user for all of them.
 */
function lookAll(work: DecidingWork): void {
  const { ledger } = work.state;
  const reserved = (): number => ledger.reservedTokens + ledger.reservedCost;
  for (let freed = true; freed;) {
    let peak = 0;
    const { question } = work.state.requestCalls;
    for (let task = work.next(); task !== undefined; task = work.next()) {
      look(work, task);
      if (work.state.budgetQueue.length > 0) peak = Math.max(peak, reserved());
    }
    const unasked = question !== null && work.state.requestCalls.question === null;
    freed = work.state.budgetQueue.length > 0 && (reserved() < peak || unasked);
    if (freed) work.later({ do: "spend" });
  }
}

function look(work: DecidingWork, task: Task): void {
  switch (task.do) {
    case "iterate":
      return iterate(work, task.agent);
    case "settle":
      return settle(work, task.agent);
    case "end-run":
      return endRun(work, task.run, task.end);
    case "end-turn":
      return endTurn(work, task.agent);
    case "fail-turn":
      return failTurn(work, task.agent, task.end);
    case "spend":
      return spend(work);
    case "fill":
      return fill(work, task.agent);
  }
}

function timersCame(work: DecidingWork): string | null {
  const due = timersDue(work.state.timers, work.at);
  if (due.length === 0) return "no timer is due";
  work.accept();
  for (const name of due) {
    const [kind, ...rest] = name.split(":");
    const subject = rest.join(":");
    if (kind === "deadline")
      work.later({ do: "end-run", run: Number(subject), end: { status: "timeout", reason: "deadline" } });
    if (kind === "queue")
      work.later({ do: "end-run", run: Number(subject), end: { status: "timeout", reason: "queue-timeout" } });
    if (kind === "retry") callModelAgain(work, asStepKey(subject));
    if (kind === "barrier") barrierPassed(work, Number(rest[0]), rest.slice(1).join(":"));
  }
  return null;
}
