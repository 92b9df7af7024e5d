/**
 * Owns the walk over a workspace's folders.
 *
 * Invariants:
 *  1. Paths come in the order of their UTF-16 code units, whatever the file system's order or the locale.
 *  2. Symlinks are named, never followed. On Linux a folder is held open while it is read, so that swapping it for a symlink changes nothing.
 *  3. At most ENTRIES_LIMIT names are held and read, and the tally says when there were more.
 *  4. The signal stops it between any two names, and between a few names there is always a turn of the event loop: the costlier the
 *     patterns, the fewer names.
 *  5. What the rules of the call deny is not there; what they ask about is left out and counted.
 */

import { constants } from "node:fs";
import { open, opendir, realpath } from "node:fs/promises";
import { join } from "node:path";

import { type Ignore, IGNORE_NOTHING } from "./ignore.ts";
import type { Place, Sight, Workspace } from "./workspace.ts";

export const ENTRIES_LIMIT = 100_000;
const STEPS_IN_TURN = 1_000_000;
const NAME_LENGTH = 255;

export interface WalkEntry {
  readonly path: string;
  /** `folder` only for one that the depth left unopened. */
  readonly kind: "file" | "folder" | "symlink";
}

/** Filled in by the walk. */
export interface WalkTally {
  folders: number;
  unreadable: number;
  /** Pipes, sockets and devices. */
  irregular: number;
  /** What the rules ask about: it is not shown, and its content not read, before the call names it. */
  asked: number;
  overfull: boolean;
}

export interface WalkOptions {
  readonly from: Place;
  /** How many levels of folders are opened: 1 is the folder itself. */
  readonly depth: number;
  readonly ignore: Ignore;
  readonly sight: Sight;
  readonly signal: AbortSignal;
  readonly tally: WalkTally;
}

interface Pending {
  readonly path: string;
  readonly name: string;
  readonly kind: "file" | "folder" | "symlink";
  readonly level: number;
}

export function createWalkTally(): WalkTally {
  return { folders: 0, unreadable: 0, irregular: 0, asked: 0, overfull: false };
}

export async function* walk(workspace: Workspace, options: WalkOptions): AsyncGenerator<WalkEntry> {
  const { from, signal } = options;
  if (from.kind === "file") {
    yield { path: from.shown, kind: "file" };
    return;
  }
  const start = from.shown === "." ? "" : from.shown;
  // Asked for by name, an ignored folder is shown: its rules would hide everything in it.
  const ignore: Ignore = start !== "" && options.ignore.leavesOut(start, true) ? IGNORE_NOTHING : options.ignore;
  const stack: Pending[] = [{ path: start, name: "", kind: "folder", level: 0 }];
  let seen = 0;
  while (!signal.aborted) {
    const item = stack.pop();
    if (item === undefined) return;
    if (item.kind !== "folder") {
      yield { path: item.path, kind: item.kind };
      continue;
    }
    if (item.level >= options.depth) {
      yield { path: item.path, kind: "folder" };
      continue;
    }
    const found = await readFolder(workspace, item, { ...options, ignore }, ENTRIES_LIMIT - seen);
    seen += found.length;
    for (let index = found.length - 1; index >= 0; index--) {
      const child = found[index];
      if (child !== undefined) stack.push(child);
    }
  }
}

async function readFolder(
  workspace: Workspace,
  folder: Pending,
  { ignore, sight, signal, tally }: WalkOptions,
  room: number,
): Promise<readonly Pending[]> {
  const absolute = join(workspace.root, folder.path);
  const found = new Map<string, Pending>();
  try {
    const handle = await open(absolute, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      const held = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : absolute;
      if ((await realpath(held)) !== absolute) return [];
      tally.folders++;
      for await (const entry of await opendir(held, { bufferSize: namesInTurn(ignore.cost + sight.cost) })) {
        if (signal.aborted) break;
        const path = folder.path === "" ? entry.name : `${folder.path}/${entry.name}`;
        const kind = entry.isDirectory()
          ? "folder"
          : entry.isFile()
            ? "file"
            : entry.isSymbolicLink()
              ? "symlink"
              : null;
        if (ignore.leavesOut(path, kind === "folder")) continue;
        const seen = sight.of(path, false);
        if (seen === "ask") tally.asked++;
        if (seen !== "seen") continue;
        if (kind === null) {
          tally.irregular++;
          continue;
        }
        if (found.size >= room) {
          tally.overfull = true;
          break;
        }
        const name = kind === "folder" ? `${entry.name}/` : entry.name;
        found.set(name, { path, name, kind, level: folder.level + 1 });
      }
    } finally {
      await handle.close();
    }
  } catch {
    tally.unreadable++;
  }
  if (signal.aborted) return [];
  // By code units, which is what sorting without a comparison does, and much faster.
  return [...found.keys()].toSorted().flatMap((name) => found.get(name) ?? []);
}

/** How many names are looked at between two turns of the event loop. */
function namesInTurn(cost: number): number {
  return Math.min(256, Math.max(1, Math.floor(STEPS_IN_TURN / (NAME_LENGTH * (cost + 1)))));
}
