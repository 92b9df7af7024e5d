/** What facts about outside children do to the state. */

import { effectDrop } from "../agent/agent-facts.ts";
import { effectOpen } from "../agent/effect-facts.ts";
import type { OpenEffect, StateHandlers, TreeState } from "../state.ts";
import { modelCost } from "../values/definition.ts";
import { stepKey, type StepKey } from "../values/ids.ts";
import type { SessionUsage } from "../values/message.ts";

interface FromSession {
  readonly effect: StepKey;
  readonly used?: SessionUsage | undefined;
}

/** Books what the session has used since it was last booked. Returns the session. */
function bookSession(state: TreeState, { effect: key, used }: FromSession): OpenEffect | undefined {
  const effect = state.effects.get(key);
  if (effect === undefined || used === undefined) return effect;
  const price = state.agents.get(effect.agent)?.definition.price ?? null;
  const tokens = Math.max(effect.used.tokens, used.input + used.output);
  const cost = Math.max(effect.used.cost, used.cost ?? modelCost(price, used));
  for (const account of [state.ledger, state.runs.get(effect.agent)]) {
    if (account === undefined) continue;
    account.tokens += tokens - effect.used.tokens;
    account.cost += cost - effect.used.cost;
  }
  effect.used = { tokens, cost };
  return effect;
}

export const outsideFacts = {
  "runner-started"(state, { agent: number, n }, { seq }) {
    const turn = state.agents.get(number)?.turn ?? null;
    if (turn === null) return;
    turn.model = stepKey(seq, n);
    effectOpen(state, turn.model, { kind: "runner", agent: number });
  },

  "runner-progressed"(state, fact) {
    const effect = bookSession(state, fact);
    const turn = effect === undefined ? null : (state.agents.get(effect.agent)?.turn ?? null);
    if (turn !== null) turn.iterations = Math.max(turn.iterations, fact.iterations ?? 0);
  },

  "runner-asked": bookSession,

  "runner-reported": bookSession,

  "runner-ended"(state, fact) {
    const effect = bookSession(state, fact);
    const turn = effect === undefined ? null : (state.agents.get(effect.agent)?.turn ?? null);
    effectDrop(state, fact.effect);
    if (turn?.model === fact.effect) turn.model = null;
  },

  "runner-message-sent"(state, { agent, n }, { seq }) {
    effectOpen(state, stepKey(seq, n), { kind: "tell", agent });
  },

  "runner-told"(state, { effect }) {
    state.effects.delete(effect);
  },
} satisfies Partial<StateHandlers>;
