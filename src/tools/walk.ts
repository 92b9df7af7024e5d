/**
 * Owns the walk over a workspace's folders.
 *
 * Invariants:
 *  1. Paths come in the order of their UTF-16 code units, whatever the file system's order or the locale.
 *  2. Symlinks are named, never followed; a folder that became one meanwhile is not opened.
 *  3. At most ENTRIES_LIMIT names are held and read, and the tally says when there were more.
 *  4. It can be stopped between any two folders by the signal.
 */

import { opendir, realpath } from "node:fs/promises";
import { join } from "node:path";

import type { Ignore } from "./ignore.ts";
import type { Place, Workspace } from "./workspace.ts";

export const ENTRIES_LIMIT = 100_000;

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
  overfull: boolean;
}

export interface WalkOptions {
  readonly from: Place;
  /** How many levels of folders are opened: 1 is the folder itself. */
  readonly depth: number;
  readonly ignore: Ignore;
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
  return { folders: 0, unreadable: 0, irregular: 0, overfull: false };
}

export async function* walk(workspace: Workspace, options: WalkOptions): AsyncGenerator<WalkEntry> {
  const { from, signal, tally } = options;
  if (from.kind === "file") {
    yield { path: from.shown, kind: "file" };
    return;
  }
  const start = from.shown === "." ? "" : from.shown;
  // Asked for by name, an ignored folder is shown: its rules would hide everything in it.
  const ignore: Ignore = start !== "" && options.ignore(start, true) ? () => false : options.ignore;
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
    const found = await readFolder(workspace, item, ignore, ENTRIES_LIMIT - seen, tally);
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
  ignore: Ignore,
  room: number,
  tally: WalkTally,
): Promise<readonly Pending[]> {
  const absolute = join(workspace.root, folder.path);
  const found: Pending[] = [];
  try {
    if ((await realpath(absolute)) !== absolute) return found;
    tally.folders++;
    for await (const entry of await opendir(absolute, { bufferSize: 256 })) {
      const path = folder.path === "" ? entry.name : `${folder.path}/${entry.name}`;
      const kind = entry.isDirectory() ? "folder" : entry.isFile() ? "file" : entry.isSymbolicLink() ? "symlink" : null;
      if (ignore(path, kind === "folder")) continue;
      if (kind === null) {
        tally.irregular++;
        continue;
      }
      if (found.length >= room) {
        tally.overfull = true;
        break;
      }
      found.push({ path, name: kind === "folder" ? `${entry.name}/` : entry.name, kind, level: folder.level + 1 });
    }
  } catch {
    tally.unreadable++;
  }
  return found.toSorted((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
}
