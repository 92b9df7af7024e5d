/**
 * Which steps need not wait for fsync: those without an external effect.
 *
 * Such a step survives the death of its process. A loss of power may undo it; then the model is called again, a safe
 * tool runs again, an awaited child is made again. So the step must send nothing out and start nothing that must not
 * run twice. Every other step waits for fsync, which also covers the steps before it. Callers and subscribers see a
 * step when it is on disk.
 */

import type { Decided, Input } from "../event.ts";
import type { OpenEffect } from "../state.ts";
import type { Decision } from "../step.ts";

/** Facts that need no fsync, besides those that depend on their members. */
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
      // `accepted` promises the parent that a background run is durable.
      return fact.mode === "awaited";
    case "turn-ended":
    case "run-ended":
      // A caller may wait for the answer to a post.
      return fact.posts === undefined;
    default:
      return DEFERRABLE.has(fact.type);
  }
}

/** `effect`: the effect whose result the input is, before the step. */
export function fsyncDeferrable(input: Input, effect: OpenEffect | undefined, { rejected, events }: Decision): boolean {
  if (rejected !== null || effect === undefined) return false;
  const lossless = input.type === "model-replied" || input.type === "runner-progressed";
  const repeatable = lossless || (input.type === "tool-finished" && effect.safe);
  return repeatable && events.every(deferrable);
}
