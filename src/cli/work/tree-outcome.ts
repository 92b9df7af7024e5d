/** How the work of a tree ended, as an exit code and a problem. */

import { ErrandError } from "../../errors.ts";
import type { Ending } from "../display/display.ts";
import { EXIT } from "../exit-code.ts";
import { problemOf } from "../problem.ts";
import { errorWords } from "../text/terminal-text.ts";
import type { TreeModel } from "../../view/tree-model.ts";

export type Ended = Pick<Ending, "code" | "outcome" | "problem">;

export const DONE: Ended = { code: EXIT.done, outcome: "done", problem: null };

/** Reasons of a failed turn that are limits. */
const LIMITS = /-limit$|^context-overflow$/;

const MODEL_REMEDY = "See which models can be reached with: errand doctor. ";

/** How it went, when nothing stopped it: by the root's last turn. */
export function outcomeOf(model: TreeModel): Ended {
  const root = model.agents.get(0);
  if (root?.outcome === "done") return DONE;
  const reason = root?.reason ?? root?.outcome ?? "unknown";
  const why = root?.error === null || root?.error === undefined ? "" : `: ${errorWords(root.error)}`;
  const problem = problemOf(
    new ErrandError("turn-failed", `The turn ended without an answer (${reason})${why}`, {
      remedy: `${reason === "provider-error" ? MODEL_REMEDY : ""}The conversation is kept in the store; its runs that ended can be read there.`,
      details: { reason },
    }),
  );
  return { code: LIMITS.test(reason) ? EXIT.limit : EXIT.failed, outcome: "failed", problem };
}
