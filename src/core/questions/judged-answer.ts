/**
 * Judges the call that an answer allows, under the rights in force when the answer is taken (rule A9). The kernel's state holds no arguments of calls,
 * so that the judgement comes with the input and stands in the journal. Whatever an answer from outside says of it is not believed.
 */

import type { Contexts } from "../context/contexts.ts";
import type { Input } from "../event.ts";
import { judgeCall } from "../permissions/process-rights.ts";
import type { TreeState } from "../state.ts";
import { askedCall } from "./question-text.ts";

interface JudgedTree {
  readonly state: TreeState;
  readonly contexts: Contexts;
}

export function judgedAnswer({ state, contexts }: JudgedTree, input: Input): Input {
  if (input.type !== "answer-given") return input;
  const { type, id, question, allow } = input;
  const asked = state.questions.get(question);
  const agent = asked === undefined ? undefined : state.agents.get(asked.agent);
  if (!allow || asked === undefined || asked.call === null || agent === undefined) return { type, id, question, allow };
  const call = askedCall(contexts, asked.agent, asked.call);
  const file = contexts.agents.get(asked.agent)?.open?.files?.get(asked.call);
  const judgement = call === undefined ? "deny" : judgeCall(state.rights, agent.definition, { ...call, file });
  if (judgement === "allow" || judgement === "ask") return { type, id, question, allow };
  return { type, id, question, allow, refused: judgement };
}
