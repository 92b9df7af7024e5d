/** What facts about questions do to the state. */

import type { Fact } from "../event.ts";
import { stepKey } from "../ids.ts";
import { withGrant } from "../permissions/grants.ts";
import type { Place } from "../place.ts";
import type { TreeState } from "../state.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

export function applyQuestionAsked(state: TreeState, fact: FactOf<"question-asked">, place: Place): void {
  const turn = state.agents.get(fact.agent)?.turn;
  const { agent, call, name } = fact;
  const key = stepKey(place.seq, fact.n);
  if (call === undefined) {
    state.requestCalls.question = key;
    state.questions.set(key, { agent, call: null, name, askedAt: place.at });
    return;
  }
  if (turn === null || turn === undefined) return;
  turn.calls.set(call, { id: call, name, effect: null, run: null, question: key, final: false });
  state.questions.set(key, { agent, call, name, askedAt: place.at });
}

export function applyAnswerGiven(state: TreeState, fact: FactOf<"answer-given">): void {
  const question = state.questions.get(fact.question);
  if (question === undefined) return;
  state.questions.delete(fact.question);
  if (fact.grant !== undefined) state.grants = withGrant(state.grants, fact.grant);
  if (question.call === null) {
    state.requestCalls.question = null;
    state.requestCalls.refused = !fact.allow;
    if (fact.allow) state.requestCalls.used = 0;
    return;
  }
  const call = state.agents.get(question.agent)?.turn?.calls.get(question.call);
  if (call !== undefined) call.question = null;
}
