/**
 * Walks over the files of a folder of the workspace.
 *
 * Invariants:
 *  1. Paths come in the order of their UTF-16 code units, whatever the order of the file system or the locale.
 *  2. Symlinks are named, never followed. On Linux a folder is held open while it is read, so that swapping it for a
 *     symlink has no effect.
 *  3. At most MAX_NAMES names are held and read, and the tally says when there were more.
 *  4. The signal stops it between any two names. After a few names other work runs: the costlier the patterns, the
 *     fewer names.
 *  5. Files that the rules of the call deny are left out; those that the rules ask about are left out and counted.
 */

import { constants } from "node:fs";
import { open, opendir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { createGlob } from "../core/text/glob.ts";
import { type Ignore, IGNORE_NOTHING, readIgnore } from "./ignore.ts";
import type { PathTarget, Visibility, Workspace } from "./workspace.ts";

export const MAX_NAMES = 100_000;
const STEPS_AT_ONCE = 1_000_000;
const NAME_LENGTH = 255;

type Kind = "file" | "folder" | "symlink";

export interface WalkEntry {
  readonly path: string;
  /** `folder`: it was not opened, because of `depth`. */
  readonly kind: Kind;
}

/** Filled by the walk. */
export interface WalkTally {
  folders: number;
  unreadable: number;
  /** Pipes, sockets and devices. */
  irregular: number;
  /** Files that the rules ask about. They are neither listed nor read unless the call names them. */
  asked: number;
  overfull: boolean;
}

export interface WalkOptions {
  readonly from: PathTarget;
  /** Only files that match, by their path from `from`. A file that is itself `from` always matches. */
  readonly pattern: string | undefined;
  /** How many levels of folders are opened. 1: only `from`. */
  readonly depth: number;
  readonly signal: AbortSignal;
}

export interface Walk {
  readonly tally: WalkTally;
  readonly visibility: Visibility;
  entries(): AsyncGenerator<WalkEntry>;
}

interface Limits {
  readonly ignore: Ignore;
  readonly visibility: Visibility;
  readonly signal: AbortSignal;
  readonly tally: WalkTally;
}

interface Pending extends WalkEntry {
  readonly level: number;
}

export async function createWalk(workspace: Workspace, options: WalkOptions): Promise<Walk> {
  const { from, pattern, depth, signal } = options;
  const tally: WalkTally = { folders: 0, unreadable: 0, irregular: 0, asked: 0, overfull: false };
  const visibility = workspace.visibilityBelow(from.relative);
  const glob = pattern === undefined ? null : createGlob(pattern);
  const start = from.relative === "." ? "" : from.relative;
  const found = await readIgnore(workspace);
  // If the call names an ignored folder, the patterns do not apply: they would hide everything in it.
  const ignore = start !== "" && found.leavesOut(start, true) ? IGNORE_NOTHING : found;

  async function* entries(): AsyncGenerator<WalkEntry> {
    if (from.kind === "file") {
      yield { path: from.relative, kind: "file" };
      return;
    }
    const stack: Pending[] = [{ path: start, kind: "folder", level: 0 }];
    let names = 0;
    while (!signal.aborted) {
      const item = stack.pop();
      if (item === undefined) return;
      if (item.kind === "folder" && item.level < depth) {
        const inside = await readFolder(workspace, item, { ignore, visibility, signal, tally }, MAX_NAMES - names);
        names += inside.length;
        for (const child of inside.toReversed()) stack.push(child);
        continue;
      }
      const matches = glob?.matches(start === "" ? item.path : item.path.slice(start.length + 1));
      if (glob === null || (item.kind !== "folder" && matches === true)) yield { path: item.path, kind: item.kind };
    }
  }
  return { tally, visibility, entries };
}

async function readFolder(
  workspace: Workspace,
  folder: Pending,
  { ignore, visibility, signal, tally }: Limits,
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
      for await (const entry of await opendir(held, { bufferSize: namesAtOnce(ignore.cost + visibility.cost) })) {
        if (signal.aborted) break;
        const path = folder.path === "" ? entry.name : `${folder.path}/${entry.name}`;
        const folderIs = entry.isDirectory();
        if (ignore.leavesOut(path, folderIs)) continue;
        const visible = visibility.of(path, false);
        if (visible === "ask") tally.asked++;
        if (visible !== "visible") continue;
        if (!folderIs && !entry.isFile() && !entry.isSymbolicLink()) {
          tally.irregular++;
          continue;
        }
        if (found.size >= room) {
          tally.overfull = true;
          break;
        }
        const kind = folderIs ? "folder" : entry.isFile() ? "file" : "symlink";
        found.set(folderIs ? `${entry.name}/` : entry.name, { path, kind, level: folder.level + 1 });
      }
    } finally {
      await handle.close();
    }
  } catch {
    tally.unreadable++;
  }
  if (signal.aborted) return [];
  // Sorting without a comparison function sorts by code units.
  return [...found.keys()].toSorted().flatMap((name) => found.get(name) ?? []);
}

/** How many names are read before other work runs. */
function namesAtOnce(cost: number): number {
  return Math.min(256, Math.max(1, Math.floor(STEPS_AT_ONCE / (NAME_LENGTH * (cost + 1)))));
}
