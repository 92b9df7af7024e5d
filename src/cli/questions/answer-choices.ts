/** The answers that a question takes, and what a typed line means. */

import { type QuestionView, viewIsLong } from "./question-view.ts";

export type Choice =
  | { readonly type: "once" | "conversation" | "project" | "details" }
  | { readonly type: "no"; readonly note: string }
  /** Words for the child that asks. */
  | { readonly type: "text"; readonly text: string };

/** An answer that decides the question. */
export type Answer = Exclude<Choice, { readonly type: "details" }>;

/** Null: the line does not answer this question. */
export function readChoice(line: string, view: QuestionView): Choice | null {
  if (view.words === true) return line.trim() === "" ? null : { type: "text", text: line.trim() };
  const [, typed = "", note = ""] = /^([a-z]+)\b[\s,.:]*(.*)$/is.exec(line.trim()) ?? [];
  const word = typed.toLowerCase();
  if (word === "n" || word === "no") return { type: "no", note };
  // Only a refusal has a note: other text is a message to the agent.
  if (note !== "") return null;
  if (word === "y" || word === "yes") return { type: "once" };
  if (word === "c" && view.rule !== null) return { type: "conversation" };
  if (word === "p" && view.rule !== null) return { type: "project" };
  return word === "d" && viewIsLong(view) ? { type: "details" } : null;
}

/** The possible answers, in lines that fit a narrow window. */
export function choiceLines(view: QuestionView): readonly string[] {
  if (view.words === true) return ["your answer; then Enter"];
  const more = [
    ...(view.rule === null ? [] : ["c always in this conversation", "p always in this project"]),
    ...(viewIsLong(view) ? ["d shows all of it"] : []),
  ];
  return ["y allows it, n refuses it, n and why; then Enter", ...(more.length === 0 ? [] : [more.join(", ")])];
}
