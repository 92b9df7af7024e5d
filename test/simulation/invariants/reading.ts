/**
 * I24: a reader of a tree gets each committed step once, in order and unchanged, however slow it is and however often
 * it reconnects.
 */

import type { TreeEvent } from "../../../src/index.ts";
import { treeEventOf } from "../../../src/view/tree-event.ts";
import { checkSecret } from "./outside-checks.ts";
import { demand } from "./violation.ts";
import type { WatchedTree } from "./watched-tree.ts";

export function checkEvent(tree: WatchedTree | undefined, event: TreeEvent, seen: number): void {
  demand("I24", event.seq === seen + 1, () => `a reader is shown step ${event.seq} after step ${seen}`);
  const row = tree?.rows[event.seq - 1];
  demand("I24", tree !== undefined && row !== undefined, () => `a reader is shown step ${event.seq} before its commit`);
  const committed = treeEventOf(tree.id, row);
  const shown = JSON.stringify(tree.erased.has(event.seq) ? { ...event, texts: committed.texts } : event);
  demand(
    "I24",
    shown === JSON.stringify(committed),
    () => `a reader is shown ${shown}, which is not step ${event.seq}`,
  );
  checkSecret("an event", shown);
}

/** Every step that a reader got exists after any crash. */
export function checkStillThere(tree: WatchedTree | undefined, seen: number): void {
  const there = tree?.rows.length ?? 0;
  demand("I24", seen <= there, () => `a reader was told ${seen} steps, of which ${there} are left`);
}

/** At rest a reader that takes every event has seen every row. */
export function checkSeen(tree: WatchedTree, seen: number | null): void {
  demand(
    "I24",
    seen === null || seen === tree.rows.length,
    () => `a reader has seen ${seen} of ${tree.rows.length} steps`,
  );
}
