/**
 * Owns the reading of the process table: who is alive, and which of them belong to one command.
 *
 * Invariants:
 *  1. A process belongs to the command if it is its root, a descendant of one that belongs, in a session of one that belongs (the
 *     root leads a session of its own, so every such session was made inside), or carries the command's mark in its environment.
 *  2. This process, its ancestors' session and process 1 never belong.
 *  3. Nothing throws: a process that ends while it is read is not there. Where there is no /proc the table is empty.
 */

import { readdirSync, readFileSync } from "node:fs";

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** False for a zombie: it runs no more and waits for its parent to take notice. */
  readonly alive: boolean;
}

/** The name of the environment variable that marks what a command started. */
export const MARK_NAME = "ERRAND_COMMAND";

export function readProcessTable(): readonly ProcessEntry[] {
  let names: readonly string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return [];
  }
  return names.flatMap((name) => (/^[1-9]\d*$/.test(name) ? entryOf(Number(name)) : []));
}

/** True if the process was started with the mark. Environments of other users cannot be read, and count as unmarked. */
export function processIsMarked(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(`${MARK_NAME}=${mark}`);
  } catch {
    return false;
  }
}

export function commandProcesses(
  table: readonly ProcessEntry[],
  root: number,
  marked: (pid: number) => boolean,
): readonly ProcessEntry[] {
  const own = table.find((entry) => entry.pid === process.pid)?.session;
  const candidates = table.filter(
    ({ pid, session }) => pid > 1 && pid !== process.pid && (session !== own || pid === root),
  );
  const found = new Map<number, ProcessEntry>();
  const sessions = new Set([root]);
  for (const entry of candidates) if (entry.pid === root || marked(entry.pid)) found.set(entry.pid, entry);
  for (const entry of found.values()) sessions.add(entry.session);
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const entry of candidates) {
      if (found.has(entry.pid) || !(found.has(entry.parent) || sessions.has(entry.session))) continue;
      found.set(entry.pid, entry);
      sessions.add(entry.session);
    }
  }
  return [...found.values()];
}

/** A name may hold spaces and brackets: the fields begin behind the last one. */
function entryOf(pid: number): readonly ProcessEntry[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state = "", parent = "", , session = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return [{ pid, parent: Number(parent), session: Number(session), alive: state !== "Z" && state !== "X" }];
  } catch {
    return [];
  }
}
