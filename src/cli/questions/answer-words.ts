/** What a line that was typed at a question means. */

import type { QuestionView } from "./question-view.ts";
import { viewIsLong } from "./question-view.ts";

export type Choice =
  | { readonly type: "once" | "conversation" | "project" | "details" }
  | { readonly type: "no"; readonly note: string };

/** Null: the line is no answer to this question. */
export function readChoice(line: string, view: QuestionView): Choice | null {
  const [, word = "", note = ""] = /^([a-z]+)\b[\s,.:]*(.*)$/is.exec(line.trim()) ?? [];
  switch (word.toLowerCase()) {
    case "n":
    case "no":
      return { type: "no", note };
    // Whoever says more than yes speaks to the agent.
    case "y":
    case "yes":
      return note === "" ? { type: "once" } : null;
    case "c":
      return note === "" && view.rule !== null ? { type: "conversation" } : null;
    case "p":
      return note === "" && view.rule !== null ? { type: "project" } : null;
    case "d":
      return note === "" && viewIsLong(view) ? { type: "details" } : null;
    default:
      return null;
  }
}

/** How to answer, in lines that fit a narrow window. */
export function choiceLines(view: QuestionView): readonly string[] {
  const always = view.rule === null ? [] : ["c always in this conversation", "p always in this project"];
  const details = viewIsLong(view) ? ["d shows all of it"] : [];
  const more = [...always, ...details];
  return ["y allows it, n refuses it, n and why; then Enter", ...(more.length === 0 ? [] : [more.join(", ")])];
}
