/** What the contexts hold of outside children: what they were given, what they ask, and what they are told. */

import { type Json, jsonObjectIs } from "../values/json.ts";

export interface OutsideTexts {
  readonly task: string;
  readonly context: string;
  readonly files: readonly string[];
  /** What another process resumes its session with. */
  token: string | null;
  /** What it asks, by its own name for it, as `{ text, choices? }`. */
  readonly asked: Map<string, Json>;
}

/** A message for an outside child, on its way. */
export type OutsideMessage =
  | { readonly type: "answer"; readonly question: string; readonly text: string | null }
  | { readonly type: "steer"; readonly text: string }
  | { readonly type: "report-accepted" }
  | { readonly type: "report-refused"; readonly problem: string };

/** The choices of a question; none if any answer fits. */
export function choicesOf(asked: Json | undefined): readonly string[] {
  const choices = jsonObjectIs(asked) ? asked["choices"] : undefined;
  return Array.isArray(choices) ? choices.filter((choice) => typeof choice === "string") : [];
}
