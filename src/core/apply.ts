/**
 * `apply`: the only function that changes a tree's state. Loading, recovery and replay fold recorded facts with it and
 * decide nothing again. The handlers of each folder (`agentFacts`, `runFacts`, …) are keyed by fact; functions that
 * decide take a `Deciding` instead.
 *
 * Invariants:
 *  1. It is total: a fact that names something unknown changes nothing.
 *  2. It never decides: every choice is in the fact.
 *  3. It reads only heads. A change of what it makes of a recorded fact needs a new revision (journal/revision.ts).
 */

import { agentFacts } from "./agent/agent-facts.ts";
import { effectFacts } from "./agent/effect-facts.ts";
import { announcementFacts } from "./announcements/batches.ts";
import type { FactOf, FactType, Stamp } from "./event.ts";
import { outsideFacts } from "./outside/outside-facts.ts";
import { inboxFacts } from "./inbox/inbox.ts";
import { questionFacts } from "./questions/questions.ts";
import { runFacts } from "./runs/run-facts.ts";
import type { StateHandlers, TreeState } from "./state.ts";
import { timersDue } from "./values/timers.ts";

const nothing = (): void => {};

const HANDLERS: StateHandlers = {
  ...agentFacts,
  ...effectFacts,
  ...inboxFacts,
  ...questionFacts,
  ...runFacts,
  ...announcementFacts,
  ...outsideFacts,
  "timers-due": ({ timers }, _fact, { at }) => {
    for (const name of timersDue(timers, at)) timers.delete(name);
  },
  "run-asked": nothing,
  "tool-not-run": nothing,
  "effects-lost": nothing,
  "slots-offered": nothing,
  "cancel-asked": nothing,
  "close-asked": nothing,
};

export function apply<Type extends FactType>(state: TreeState, fact: FactOf<Type>, stamp: Stamp): void {
  HANDLERS[fact.type](state, fact, stamp);
}
