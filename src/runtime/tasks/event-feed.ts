/**
 * The readable events of a tree, with live text between them.
 *
 * Invariants:
 *  1. Events come in the order of the journal, each once, from the cursor on.
 *  2. Live text is not recorded. A slow reader gets the text of one agent in fewer, longer pieces, so that nothing
 *     piles up.
 */

import type { JournalRow } from "../../core/journal/journal.ts";
import { foldEvent } from "../../view/fold-event.ts";
import { placedEvents, type PlacedEvent, type ReadableEvent, type TextPiece } from "../../view/readable-event.ts";
import { type TreeEvent, treeEventOf } from "../../view/tree-event.ts";
import { createTreeModel, type TreeModel } from "../../view/tree-model.ts";
import { ErrandError } from "../../errors.ts";

export interface FeedSource {
  rows(tree: string, after: number, signal: AbortSignal): AsyncGenerator<JournalRow, void, void>;
  /** Live text of all trees. Returns a function that ends it. */
  onText(
    listener: (delta: { readonly tree: string; readonly agent: string; readonly text: string }) => void,
  ): () => void;
}

export interface FeedOptions {
  /** The cursor of the last event that the reader knows. */
  readonly after?: string | undefined;
  /** Ends the feed. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each step after it was folded into the model; true ends the feed. */
  readonly ends?: (event: TreeEvent, model: TreeModel, events: readonly ReadableEvent[]) => boolean;
}

/** Reads the tree's events from its first step, so that every event has its names, and gives those after the cursor. */
export async function* eventFeed(
  source: FeedSource,
  tree: string,
  { after, signal, ends }: FeedOptions = {},
): AsyncGenerator<PlacedEvent | TextPiece, void, void> {
  const known = placeOf(after);
  const stopped = new AbortController();
  const model = createTreeModel();
  const pieces = new Map<string, string>();
  let wake: (() => void) | null = null;
  const unlisten = source.onText(({ tree: of, agent, text }) => {
    if (of !== tree) return;
    pieces.set(agent, (pieces.get(agent) ?? "") + text);
    wake?.();
  });
  const rows = source.rows(tree, 0, signal === undefined ? stopped.signal : AbortSignal.any([stopped.signal, signal]));
  try {
    for (let next = rows.next(); ;) {
      const spoken = new Promise<null>((resolve) => {
        wake = () => resolve(null);
        if (pieces.size > 0) resolve(null);
      });
      const read = await Promise.race([next, spoken]);
      yield* piecesOf(pieces, model);
      if (read === null) continue;
      if (read.done === true) return;
      const event = treeEventOf(tree, read.value);
      const events = foldEvent(model, event);
      for (const [index, one] of placedEvents(event.seq, events).entries())
        if (isAfter(event.seq, index, known)) yield one;
      if (ends?.(event, model, events) === true) return;
      next = rows.next();
    }
  } finally {
    unlisten();
    stopped.abort();
    await rows.return();
  }
}

function* piecesOf(pieces: Map<string, string>, model: TreeModel): Generator<TextPiece, void, void> {
  for (const [agent, text] of pieces) {
    pieces.delete(agent);
    const named = [...model.agents.values()].find(({ id }) => id === agent);
    yield { type: "text", agent, name: named?.name ?? "", text };
  }
}

interface Place {
  readonly seq: number;
  readonly index: number;
}

function placeOf(cursor: string | undefined): Place {
  if (cursor === undefined) return { seq: 0, index: 0 };
  const [, seq, index] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? [];
  if (seq === undefined || index === undefined)
    throw new ErrandError("usage", `${JSON.stringify(cursor.slice(0, 40))} is no cursor.`, {
      remedy: "Pass the `cursor` of an event that you got, as it is.",
    });
  return { seq: Number(seq), index: Number(index) };
}

function isAfter(seq: number, index: number, known: Place): boolean {
  return seq > known.seq || (seq === known.seq && index > known.index);
}
