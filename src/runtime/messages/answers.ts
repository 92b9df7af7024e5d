/** A user's answers to questions, and why they cannot be taken. */

import type { PostId, StepKey } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import type { GivenAnswer } from "../errand.ts";
import type { PostInput } from "./mail.ts";

export function answerInput(
  id: PostId,
  question: StepKey,
  given: GivenAnswer,
): { readonly input: PostInput; readonly words: string } {
  const answer = { type: "answer-given", id, question } as const;
  if ("text" in given) return { input: { ...answer, allow: true, text: true }, words: given.text };
  const { allow, note = "", seen, always } = given;
  const more = { ...(seen === undefined ? {} : { seen }), ...(always === true ? { always } : {}) };
  return { input: { ...answer, allow, ...more }, words: note };
}

export function questionClosed(question: string): ErrandError {
  return new ErrandError("question-closed", `No question ${question} is open.`, {
    remedy: "It was answered, or the turn it belonged to has ended. The open ones: errand answer",
  });
}

export function answerUnfit(question: string): ErrandError {
  return new ErrandError("answer-unfit", `The answer does not fit question ${question}, which stays open.`, {
    remedy: "A child's own question takes words, or one of its choices; a call takes yes or no: errand answer",
  });
}
