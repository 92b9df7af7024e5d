/**
 * Which steps may reach the disk a moment after they were committed.
 *
 * Such a step survives the death of its process like any other. A loss of power may take it, and then it has not happened: the model is asked
 * again, a tool that is safe to repeat is run again, an awaited child is made anew. That is allowed where it tells nobody anything and begins nothing that
 * cannot be done twice. All other steps wait for the disk, and take those before them along. Whoever asks or watches is told of a step when it is on disk.
 */

import type { Decision } from "./deciding.ts";
import type { Decided, Input } from "./event.ts";
import type { OpenEffect } from "./state.ts";

/** Whether a step waits for the disk because it holds such a fact. */
const WAITS: Readonly<
  Record<Exclude<Decided["type"], "tool-called" | "run-created" | "turn-ended" | "run-ended">, boolean>
> = {
  "model-called": false,
  "tool-answered": false,
  "run-started": false,
  "run-state-changed": false,
  "run-reported": false,
  "run-report-refused": false,
  "nudge-given": false,
  "usage-estimated": false,
  "budget-awaited": false,
  "turn-model-dropped": false,
  "context-compacted": false,
  "results-shortened": false,
  "window-learnt": false,

  "run-undeliverable": true,
  "run-settled": true,
  "turn-started": true,
  "messages-joined": true,
  "message-sent": true,
  "channel-sent": true,
  "question-asked": true,
  "announcement-queued": true,
  "announcement-blocked": true,
  "barrier-passed": true,
  "limit-neared": true,
  "effect-repeated": true,
  "model-retry-set": true,
  "erasure-asked": true,
  "tree-closed": true,
};

const WAITING: ReadonlySet<string> = new Set(Object.entries(WAITS).flatMap(([type, wait]) => (wait ? [type] : [])));

function waits(fact: Decided): boolean {
  if (fact.type === "tool-called") return fact.safe !== true && fact.read !== true;
  // A background child's parent is told that it was accepted.
  if (fact.type === "run-created") return fact.mode === "background";
  // Those whose posts they are wait for them.
  if (fact.type === "turn-ended" || fact.type === "run-ended") return fact.posts !== undefined;
  return WAITING.has(fact.type);
}

/** `effect` is the one whose result the input brings, as it was before the step. */
export function stepTrails(input: Input, effect: OpenEffect | undefined, { late, events }: Decision): boolean {
  if (late !== null || effect === undefined) return false;
  const repeatable = input.type === "model-replied" || (input.type === "tool-finished" && effect.safe);
  return repeatable && !events.some(waits);
}
