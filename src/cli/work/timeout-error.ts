/** The work took longer than it may: more time helps only where the model answers. */

import { ErrandError } from "../../errors.ts";
import { elapsedLabel } from "../../view/amounts.ts";
import { errorWords } from "../text/terminal-text.ts";
import type { TreeModel } from "../../view/tree-model.ts";

/** The tree as it is when the time is over. */
export function timeoutError(timeoutMs: number, model: TreeModel): ErrandError {
  const agents = [...model.agents.values()];
  const failing = agents.find(({ failure }) => failure !== null);
  const message = `The task did not end within ${elapsedLabel(timeoutMs)}`;
  if (failing !== undefined) {
    return new ErrandError(
      "turn-timeout",
      `${message}, because the model fails: ${errorWords(failing.failure ?? "")}`,
      {
        remedy: "More time will not mend that. See which models can be reached with: errand doctor",
      },
    );
  }
  const waiting = agents.some(({ thinking }) => thinking);
  return new ErrandError("turn-timeout", message, {
    remedy: waiting
      ? "Its model had not answered yet: see whether it can be reached with errand doctor, or give it more time with --timeout SECONDS."
      : "Give it more time with --timeout SECONDS.",
  });
}
