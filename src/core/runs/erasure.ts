/**
 * `cleanup: "delete"`: when a run's result is in its parent's context, the child's texts are erased.
 *
 * Invariants:
 *  1. Heads stay, so that the chain and every decision stay provable. The erasure records what is left of each body, by
 *     hash.
 *  2. The recorded result of the run stays, and so do messages to other agents: their contexts are made of them.
 */

import type { Decided, Input, TextIndex } from "../event.ts";
import type { JournalRow } from "../journal/journal.ts";
import { bodyRead, headRead, type RowHead } from "../journal/row.ts";
import type { Run } from "../state.ts";
import type { Deciding } from "../step.ts";
import { type RunNumber, stepKey, type StepKey } from "../values/ids.ts";
import type { Json } from "../values/json.ts";
import { replyPartsOf } from "../values/message.ts";

/** Asks for the erasure, in the step that put the outcome into the parent's context. */
export function eraseIfAsked(d: Deciding, run: Run | undefined): void {
  if (run === undefined || !run.erase) return;
  const n = d.number();
  d.emit({ type: "erasure-asked", run: run.number, n });
  d.effect({ type: "erase-texts", key: d.key(n), attempt: 1, run: run.number });
}

/** Inputs with the child's own words. */
const OWN_WORDS: ReadonlySet<Input["type"]> = new Set([
  "model-replied",
  "model-failed",
  "tool-finished",
  "runner-progressed",
  "runner-asked",
  "runner-reported",
  "runner-ended",
]);

/** The rows that hold the child's own words, also as rejected duplicates, with what is left of their bodies. */
export function erasedBodies(run: RunNumber, rows: readonly JournalRow[]): { seq: number; body: string }[] {
  const effects = new Set<StepKey>();
  const erased: { seq: number; body: string }[] = [];
  for (const row of rows) {
    const head = headRead(row.head);
    const { input } = head;
    const events = head.events ?? [];
    // A report of an outside child that was posted to its parent stays.
    const posted = events.some(
      (event) => event.type === "message-sent" && event.from === run && event.call === undefined,
    );
    if (OWN_WORDS.has(input.type) && "effect" in input && effects.has(input.effect) && !posted)
      erased.push({ seq: row.seq, body: bodyLeft(run, row, head) });
    for (const event of events) {
      const { type } = event;
      if ((type === "model-called" || type === "tool-called" || type === "runner-started") && event.agent === run)
        effects.add(stepKey(row.seq, event.n));
    }
  }
  return erased;
}

function bodyLeft(run: RunNumber, { body }: JournalRow, { input, texts: ofInput = 0, events = [] }: RowHead): string {
  const { salt, texts } = bodyRead(body);
  const gone = textsOfChild(run, events);
  const left: Json[] = texts.map((text, index) => (index < ofInput || gone.has(index) ? null : text));
  const sent = events.flatMap((event) =>
    event.type === "message-sent" && event.from === run ? (event.call ?? []) : [],
  );
  if (input.type === "model-replied" && sent.length > 0)
    left[0] = callsOf(texts[0]).filter(({ id }) => sent.includes(id));
  while (left.at(-1) === null) left.pop();
  return JSON.stringify([salt, ...left]);
}

function callsOf(reply: Json | undefined) {
  return replyPartsOf(reply).flatMap((part) => {
    if (part.type !== "tool-call") return [];
    const { type, id, name, input } = part;
    return [{ type, id, name, input }];
  });
}

/** Texts that the kernel made for the child only. Those of the step that ends the run belong to its result. */
function textsOfChild(run: RunNumber, events: readonly Decided[]): ReadonlySet<TextIndex | undefined> {
  const gone = new Set<TextIndex | undefined>();
  const ends = events.some((event) => event.type === "run-ended" && event.run === run);
  for (const event of events) {
    if (event.type === "tool-answered" && event.agent === run) gone.add(event.text);
    if (event.type === "run-report-refused" && event.run === run) gone.add(event.problem);
    if (event.type === "runner-message-sent" && event.agent === run) gone.add(event.problem);
    if (event.type === "turn-ended" && event.agent === run && !ends) gone.add(event.answer).add(event.error);
  }
  return gone;
}
