/**
 * Questions: a call that the agent's permissions leave to the user waits for an answer, or an outside child waits for
 * the user's words. They wait in the journal only, without a time limit.
 *
 * Invariants:
 *  1. A question belongs to one call of a current turn, or to the turn's next model call; then all model calls of the
 *     tree wait. It ends with its answer or with the turn. A question about model calls also ends with the next
 *     request.
 *  2. The tool is started in the step that accepts the answer, and only if the rights in force then allow it (rule A9).
 */

import { answer, callTool, toolError } from "../agent/answer.ts";
import { agentWithUser } from "../delegation/send-user-message.ts";
import type { FactOf } from "../event.ts";
import { withGrant } from "../permissions/grants.ts";
import { refusedCall } from "../permissions/process-rights.ts";
import { tellSession } from "../outside/session.ts";
import { refreshRunState } from "../runs/run-state.ts";
import type { AgentState, StateHandlers } from "../state.ts";
import type { Deciding } from "../step.ts";
import { stepKey } from "../values/ids.ts";
import type { Json } from "../values/json.ts";
import type { ToolCallPart } from "../values/message.ts";

export function askUser(d: Deciding, agent: AgentState, { id: call, name }: ToolCallPart): void {
  const to = agentWithUser(d, agent)?.number;
  d.emit({ type: "question-asked", agent: agent.number, n: d.number(), call, name, to });
}

/** Accepts an answer. Returns why it is rejected, or null. */
export function answerGiven(d: Deciding, input: FactOf<"answer-given">): string | null {
  const question = d.state.questions.get(input.question);
  const agent = question === undefined ? undefined : d.state.agents.get(question.agent);
  if (question === undefined || (agent === undefined && question.call !== null)) return "no such question is open";
  const { call: id, name, ask } = question;
  if (ask !== null && agent !== undefined) return answerChild(d, agent, ask, input);
  if (input.text === true) return ANSWER_UNFIT;
  d.accept();
  // A question about model calls has no call to answer. Waiting model calls are tried again after every input.
  if (id === null || agent === undefined) return null;
  if (!input.allow) answer(d, agent, id, toolError(`${name}: ${refusalWords(d.texts[0])}`));
  else if (input.refused !== undefined) answer(d, agent, id, toolError(refusedCall(name, input.refused)));
  else callTool(d, agent, { id, name }, { granted: true, seen: input.seen });
  d.later({ do: "continue-turn", agent: agent.number });
  return null;
}

/** Recorded in journals, and compared by the runtime: the words must not change. */
export const ANSWER_UNFIT = "the answer does not fit the question";

/** Passes the user's words to the outside child that asked for them. */
function answerChild(d: Deciding, agent: AgentState, ask: string, input: FactOf<"answer-given">): string | null {
  const [words] = d.texts;
  const answered = input.text === true && input.unfit !== true && typeof words === "string" && words.trim() !== "";
  if (input.allow && !answered) return ANSWER_UNFIT;
  d.accept();
  tellSession(d, agent, { kind: "answer", ask, declined: input.allow ? undefined : true });
  refreshRunState(d, agent.number);
  return null;
}

function refusalWords(note: Json | undefined): string {
  const words = typeof note === "string" && note.trim() !== "" ? ` and says: ${note.trim()}` : "; go on without it";
  return `the user does not allow this call${words}`;
}

export const questionFacts = {
  "question-asked"(state, { agent, n, call = null, ask = null, name }, { seq, at }) {
    const turn = state.agents.get(agent)?.turn ?? null;
    const key = stepKey(seq, n);
    if (call === null && ask === null) state.requestCalls.question = key;
    else if (turn === null) return;
    else if (call !== null)
      turn.calls.set(call, { id: call, name, effect: null, run: null, question: key, final: false });
    state.questions.set(key, { agent, call, ask, name, askedAt: at });
  },

  "answer-given"(state, { question: key, grant, allow }) {
    const question = state.questions.get(key);
    if (question === undefined) return;
    state.questions.delete(key);
    if (grant !== undefined) state.grants = withGrant(state.grants, grant);
    if (question.ask !== null) return;
    if (question.call === null) {
      state.requestCalls.question = null;
      state.requestCalls.refused = !allow;
      if (allow) state.requestCalls.used = 0;
      return;
    }
    const call = state.agents.get(question.agent)?.turn?.calls.get(question.call);
    if (call !== undefined) call.question = null;
  },
} satisfies Partial<StateHandlers>;
