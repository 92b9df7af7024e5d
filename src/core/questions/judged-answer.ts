/**
 * Judges the call that an answer allows, under the rights in force when the answer is taken (rule A9). The kernel's
 * state holds no arguments of calls, so the judgement is recorded with the input. What an answer from outside says
 * about rights is ignored; a grant is made here, from the call that the user was asked about.
 */

import type { Contexts } from "../context/contexts.ts";
import { choicesOf } from "../context/outside-texts.ts";
import type { Input } from "../event.ts";
import { exactRule } from "../permissions/grants.ts";
import { judgeCall } from "../permissions/process-rights.ts";
import type { TreeState } from "../state.ts";
import type { Json } from "../values/json.ts";
import { askedCall } from "../text/prompts/question-text.ts";

interface JudgedTree {
  readonly state: TreeState;
  readonly contexts: Contexts;
}

export function judgedAnswer({ state, contexts }: JudgedTree, input: Input, texts: readonly Json[]): Input {
  if (input.type !== "answer-given") return input;
  const { type, id, question, allow, text } = input;
  const plain = { type, id, question, allow, ...(text === true ? { text } : {}) };
  const asked = state.questions.get(question);
  const agent = asked === undefined ? undefined : state.agents.get(asked.agent);
  if (allow && asked !== undefined && asked.ask !== null) {
    const choices = choicesOf(contexts.runs.get(asked.agent)?.outside?.asked.get(asked.ask));
    const words = texts[0];
    return choices.length === 0 || choices.some((choice) => choice === words) ? plain : { ...plain, unfit: true };
  }
  if (!allow || asked === undefined || asked.call === null || agent === undefined) return plain;
  const call = askedCall(contexts, asked.agent, asked.call);
  const file = contexts.agents.get(asked.agent)?.open?.files?.get(asked.call);
  const judgement =
    call === undefined ? "deny" : judgeCall(state.rights, agent.definition, { ...call, file }, state.grants);
  if (call === undefined || (judgement !== "allow" && judgement !== "ask"))
    return { ...plain, refused: judgement === "allow" || judgement === "ask" ? "deny" : judgement };
  const grant = input.always === true ? exactRule({ ...call, file }) : null;
  return {
    ...plain,
    ...(input.seen === undefined ? {} : { seen: seenOf(input.seen) }),
    ...(grant === null ? {} : { grant }),
  };
}

/** An answer from outside may hold anything. What cannot be the mark of a file becomes a mark that no file has. */
function seenOf(mark: unknown): string {
  return typeof mark === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(mark) ? mark : "unreadable";
}
