/** Moves a SQLite file to a PostgreSQL database, and ends an upgrade: what `errand migrate` does. */

import { statSync } from "node:fs";
import type { World } from "../../contracts/world.ts";
import { JOURNAL_FORMAT } from "../../core/journal/revision.ts";
import { ErrandError } from "../../errors.ts";
import { readClock } from "../clock.ts";
import { openOwnFile, openStoreAt } from "../create-runtime.ts";
import { type Moved, moveStore, type MovableStore, type Progress } from "./move-store.ts";

/** Clocks that differ by less shift deadlines by an amount that does not matter. */
const CLOCKS_DIFFER_MS = 60_000;

export interface Migration {
  /** The path of the file. This process owns it until the move is over. */
  readonly from: string;
  /** The URL of the database. */
  readonly to: string;
  /** The database's name without a password, which the file keeps. */
  readonly toName: string;
  readonly world: World;
  /** Called with each row and each tree. */
  readonly onProgress: (progress: Progress) => void;
  /**
   * Called if the clock of the database is ahead of that of the file, or behind it, by much: deadlines come earlier or
   * later.
   */
  readonly onClocksDiffer: (aheadMs: number) => void;
}

export async function migrateStore(migration: Migration): Promise<Moved> {
  const { from, to, toName, world, onProgress, onClocksDiffer } = migration;
  const source = openSource(from);
  try {
    const target = await openStoreAt(to, "own", { world });
    try {
      const aheadMs = (target.shared?.now() ?? 0) - (await readClock(source, world)).now();
      if (Math.abs(aheadMs) >= CLOCKS_DIFFER_MS && source.movedTo() === null) onClocksDiffer(aheadMs);
      return await moveStore({ source, target, to: toName, onProgress });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function openSource(path: string): MovableStore {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    throw new ErrandError("store-unreadable", `There is no store ${path}`, { remedy: "Name the file with --from." });
  }
  try {
    return openOwnFile(path, { evenMoved: true });
  } catch (thrown) {
    if (!(thrown instanceof ErrandError) || thrown.code !== "store-owned") throw thrown;
    throw new ErrandError("store-owned", thrown.message, {
      remedy: "Stop that process first. Its work goes on in the database.",
      cause: thrown,
      details: thrown.details,
    });
  }
}

/** From here on the store writes new trees in the newest format. `before` is the format it wrote until now. */
export async function finishUpgrade(path: string, before: number): Promise<void> {
  if (before > JOURNAL_FORMAT) {
    throw new ErrandError(
      "store-too-new",
      `New trees are written in format ${before}; this version of Errand knows formats up to ${JOURNAL_FORMAT}.`,
      { remedy: "Update Errand." },
    );
  }
  if (before === JOURNAL_FORMAT) return;
  const store = await openStoreAt(path, "own");
  try {
    await store.raiseFormat(JOURNAL_FORMAT);
  } finally {
    await store.close();
  }
}
