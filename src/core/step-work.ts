/**
 * The work of one step. A fact is applied when it is decided, so that the next decision of the same step sees it. What
 * is left to do stands on a list of tasks: the parts of the kernel do not call each other in circles, and the stack
 * does not grow with the tree.
 */

import { apply } from "./apply.ts";
import type { Effect } from "./effect.ts";
import type { Decided, Fact, Stamp, TextIndex } from "./event.ts";
import type { TreeState } from "./state.ts";
import type { Deciding, Decision, RefusedDelegation, Step, StepContexts, Task } from "./step.ts";
import { type AgentNumber, fractionOf, stepKey, uuidOf } from "./values/ids.ts";
import type { Json } from "./values/json.ts";
import type { Settings } from "./values/limits.ts";

export interface StepWork extends Deciding {
  nextTask(): Task | undefined;
  decision(rejected: string | null): Decision;
}

export function stepWork(state: TreeState, settings: Settings, step: Step, contexts: StepContexts): StepWork {
  const { at, seed, texts, input } = step;
  const stamp: Stamp = { seq: state.seq + 1, at };
  const runningBefore = state.running;
  const events: Decided[] = [];
  const effects: Effect[] = [];
  const added: Json[] = [];
  const refused: RefusedDelegation[] = [];
  const tasks: Task[] = [];
  /** Agents whose queued children may start, and agents of which a child could not start because no slot was free. */
  const mayStart = new Set<AgentNumber>();
  const lackSlot = new Set<AgentNumber>();
  let tasksDone = 0;
  let numbers = 0;
  let uuids = 0;
  let seedUsed = false;
  let slotsUsed = false;

  const textAt = (index: TextIndex): Json | undefined =>
    index < texts.length ? texts[index] : added[index - texts.length];

  function take(fact: Fact): void {
    apply(state, fact, stamp);
    contexts.observe(fact, stamp, textAt);
  }

  function processHasSlot(): boolean {
    const released = runningBefore - state.running;
    const free = released + step.slots > 0;
    // Replay knows the offered slots only if they are recorded.
    if (free !== released > 0) slotsUsed = true;
    return free;
  }

  return {
    state,
    settings,
    contexts,
    at,
    texts,
    accept: () => take(input),
    emit(fact) {
      events.push(fact);
      take(fact);
    },
    effect: (effect) => void effects.push(effect),
    number: () => (numbers += 1),
    key: (number) => stepKey(stamp.seq, number),
    uuid() {
      seedUsed = true;
      uuids += 1;
      return uuidOf(at, seed, uuids - 1);
    },
    fraction() {
      seedUsed = true;
      return fractionOf(seed);
    },
    text: (value) => texts.length + added.push(value) - 1,
    later(task) {
      if (task.do === "start-queued") mayStart.add(task.agent);
      else tasks.push(task);
    },
    refused: (delegation) => void refused.push(delegation),
    slotFree(agent) {
      const free = processHasSlot();
      if (!free) lackSlot.add(agent);
      return free;
    },
    nextTask() {
      const task = tasks[tasksDone];
      if (task !== undefined) {
        tasksDone += 1;
        return task;
      }
      if (mayStart.size === 0 && lackSlot.size > 0 && processHasSlot()) {
        for (const agent of lackSlot) mayStart.add(agent);
        lackSlot.clear();
      }
      const [agent] = mayStart;
      if (agent === undefined) return undefined;
      mayStart.delete(agent);
      return { do: "start-queued", agent };
    },
    decision: (rejected) => {
      const slotsLacked = lackSlot.size > 0;
      return { rejected, events, effects, texts: added, seedUsed, slotsUsed, slotsLacked, refused };
    },
  };
}
