/** The option `--timeout`, and the error when the time is over. */

import { ErrandError } from "../../errors.ts";
import { elapsedLabel } from "../../view/amounts.ts";
import type { TreeModel } from "../../view/tree-model.ts";
import { errorWords } from "../text/terminal-text.ts";

const LONGEST_S = 7 * 24 * 3_600;

/** The seconds that the user gave, as milliseconds. */
export function timeoutOf(given: string | undefined): number | null {
  if (given === undefined) return null;
  const seconds = /^\d+(\.\d+)?$/.test(given) ? Number(given) : 0;
  if (seconds > 0 && seconds <= LONGEST_S) return seconds * 1_000;
  throw new ErrandError("usage", `--timeout takes a number of seconds above 0, not "${given}"`, {
    remedy: "For example: errand run --timeout 60",
  });
}

/** `model` is the tree at the end of the time. More time helps only if its models answer. */
export function timeoutError(timeoutMs: number, model: TreeModel): ErrandError {
  const agents = [...model.agents.values()];
  const failure = agents.find((agent) => agent.failure !== null)?.failure ?? null;
  const message = `The task did not end within ${elapsedLabel(timeoutMs)}`;
  if (failure !== null) {
    return new ErrandError("turn-timeout", `${message}, because the model fails: ${errorWords(failure)}`, {
      remedy: "More time will not help. See which models can be reached with: errand doctor",
    });
  }
  const waiting = agents.some(({ thinking }) => thinking);
  return new ErrandError("turn-timeout", message, {
    remedy: waiting
      ? "Its model had not answered yet: see whether it can be reached with errand doctor, " +
        "or give it more time with --timeout SECONDS."
      : "Give it more time with --timeout SECONDS.",
  });
}
