/** Nobody is here who could answer: what waits, and how to answer it from anywhere. */

import { MODEL_CALLS } from "../../core/text/prompts/question-text.ts";
import { ErrandError } from "../../errors.ts";
import { type Problem, problemOf } from "../problem.ts";
import { countLabel } from "../../view/amounts.ts";
import type { TreeModel } from "../../view/tree-model.ts";

export function parkedProblem(model: TreeModel, store: string): Problem {
  const [first] = model.questions;
  const [key, { tool, about }] = first ?? ["", { tool: "", about: "" }];
  const more = model.questions.size > 1 ? ` (and ${countLabel(model.questions.size - 1, "question")} more)` : "";
  const remedy =
    store === "memory"
      ? "Run it in a terminal and answer there, or allow such calls: errand run --allow TOOL"
      : `errand answer ${model.tree}/${key} yes, then: errand resume ${model.tree}.${tool === MODEL_CALLS ? "" : ` Or allow such calls: --allow ${tool}`}`;
  const asked =
    tool === MODEL_CALLS
      ? "may the request use more model calls"
      : `may ${tool} be used${about === "" ? "" : ` for ${about}`}`;
  const message = `The work waits for an answer: ${asked}?${more}`;
  return problemOf(new ErrandError("needs-input", message, { remedy }));
}
