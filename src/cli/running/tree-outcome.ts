/** How the work of a tree ended, as an exit code and a problem. */

import { MODEL_CALLS } from "../../core/text/prompts/question-text.ts";
import { ErrandError } from "../../errors.ts";
import { countLabel } from "../../view/amounts.ts";
import type { TreeModel } from "../../view/tree-model.ts";
import type { Ending } from "../display/display.ts";
import { EXIT } from "../exit-code.ts";
import { type Problem, problemOf } from "../problem.ts";
import { errorWords } from "../text/terminal-text.ts";

export type Ended = Pick<Ending, "code" | "outcome" | "problem">;

export const DONE: Ended = { code: EXIT.done, outcome: "done", problem: null };

/** Reasons of a failed turn that are limits. */
const LIMITS: ReadonlySet<string> = new Set([
  "context-overflow",
  "cost-limit",
  "iteration-limit",
  "model-call-limit",
  "reply-limit",
  "token-limit",
]);

/** The outcome of the root's last turn. */
export function outcomeOf(model: TreeModel): Ended {
  const root = model.agents.get(0);
  if (root?.outcome === "done") return DONE;
  const reason = root?.reason ?? root?.outcome ?? "unknown";
  const why = root?.error === null || root?.error === undefined ? "" : `: ${errorWords(root.error)}`;
  const models = reason === "provider-error" ? "See which models can be reached with: errand doctor. " : "";
  const problem = problemOf(
    new ErrandError("turn-failed", `The turn ended without an answer (${reason})${why}`, {
      remedy: `${models}The conversation is kept in the store; its runs that ended can be read there.`,
      details: { reason },
    }),
  );
  return { code: LIMITS.has(reason) ? EXIT.limit : EXIT.failed, outcome: "failed", problem };
}

/** The tree waits for an answer that no user can give here: says how to answer from another place. */
export function parkedProblem(model: TreeModel, store: string): Problem {
  const [first] = model.questions;
  const [key, { tool, about }] = first ?? ["", { tool: "", about: "" }];
  const calls = tool === MODEL_CALLS;
  const more = model.questions.size > 1 ? ` (and ${countLabel(model.questions.size - 1, "question")} more)` : "";
  const allow = calls ? "" : ` Or allow such calls: --allow ${tool}`;
  const remedy =
    store === "memory"
      ? "Run it in a terminal and answer there, or allow such calls: errand run --allow TOOL"
      : `errand answer ${model.tree}/${key} yes, then: errand resume ${model.tree}.${allow}`;
  const asked = calls
    ? "may the request use more model calls"
    : `may ${tool} be used${about === "" ? "" : ` for ${about}`}`;
  return problemOf(new ErrandError("needs-input", `The work waits for an answer: ${asked}?${more}`, { remedy }));
}
