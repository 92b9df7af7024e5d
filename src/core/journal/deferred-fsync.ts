/**
 * Which steps may reach the disk a moment after their commit.
 *
 * Such a step survives the death of its process like any other. A loss of power may take it, and then it has not happened: the model is asked
 * again, a safe tool runs again, an awaited child is made again. That is allowed for a step that tells nobody anything and begins nothing that cannot be
 * done twice. All other steps wait for fsync, which also covers the steps before them. Callers and subscribers see a step when it is on disk.
 */

import type { Decided, Input } from "../event.ts";
import type { OpenEffect } from "../state.ts";
import type { Decision } from "../step.ts";

/** Facts that do not wait for fsync. Any other fact does. */
const DEFERRABLE: ReadonlySet<Decided["type"]> = new Set([
  "model-called",
  "tool-answered",
  "run-started",
  "run-state-changed",
  "run-reported",
  "run-report-refused",
  "nudge-given",
  "usage-estimated",
  "budget-awaited",
  "turn-model-dropped",
  "context-compacted",
  "results-shortened",
  "window-learnt",
]);

function deferrable(fact: Decided): boolean {
  switch (fact.type) {
    case "tool-called":
      return fact.safe === true || fact.read === true;
    case "run-created":
      // The parent of a background child is told that it was accepted.
      return fact.mode === "awaited";
    case "turn-ended":
    case "run-ended":
      // Somebody may wait for the answer to a post.
      return fact.posts === undefined;
    default:
      return DEFERRABLE.has(fact.type);
  }
}

/** `effect`: the one whose result the input brings, as it was before the step. */
export function fsyncDeferrable(input: Input, effect: OpenEffect | undefined, { rejected, events }: Decision): boolean {
  if (rejected !== null || effect === undefined) return false;
  const repeatable = input.type === "model-replied" || (input.type === "tool-finished" && effect.safe);
  return repeatable && events.every(deferrable);
}
