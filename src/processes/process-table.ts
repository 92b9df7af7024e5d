/**
 * Reads the process table and finds the processes of one tree.
 *
 * Invariants:
 *  1. A process belongs to the tree if it is the root, a descendant of one that belongs, in a session of one that
 *     belongs, or has a mark of the tree in its environment. (The root leads a session of its own, so the sessions of
 *     its processes were made by the tree.)
 *  2. This process, its session, its ancestors and process 1 never belong.
 *  3. Nothing throws: a process that ends while it is read is left out. Without /proc the table is empty.
 */

import { readdirSync, readFileSync } from "node:fs";

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** False for a zombie. */
  readonly alive: boolean;
  /** True for a kernel thread. */
  readonly kernel: boolean;
  /** In ticks since the machine was started. */
  readonly startedAt: number;
}

const GONE: ReadonlySet<string> = new Set(["ENOENT", "ESRCH"]);

/** The environment variable that marks the processes of a tree. */
export const MARK_NAME = "ERRAND_COMMAND";

export interface ProcessTable {
  readonly entries: readonly ProcessEntry[];
  /** True if a process ended while the table was read: it may have started another one that is not in the table. */
  readonly incomplete: boolean;
}

export function readProcessTable(): ProcessTable {
  let names: readonly string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return { entries: [], incomplete: false };
  }
  const pids = names.filter((name) => /^[1-9]\d*$/.test(name)).map(Number);
  const entries = pids.flatMap(entryOf);
  return { entries, incomplete: entries.length < pids.length };
}

/**
 * Whether the process has one of the marks in its environment. `unclear`: it has ended, or has no environment, as every
 * process for a moment when it starts another program. Processes of other users cannot be read and count as unmarked.
 */
export function processMark(pid: number, marks: readonly string[]): "marked" | "unmarked" | "unclear" {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
    if (environment === "") return "unclear";
    const found = environment.split("\0").find((variable) => variable.startsWith(`${MARK_NAME}=`));
    return found !== undefined && marks.includes(found.slice(MARK_NAME.length + 1)) ? "marked" : "unmarked";
  } catch (error) {
    return error instanceof Error && "code" in error && GONE.has(String(error.code)) ? "unclear" : "unmarked";
  }
}

/** When the process was started; 0 if that cannot be read. */
export function processStartedAt(pid: number): number {
  return entryOf(pid)[0]?.startedAt ?? 0;
}

export function treeProcesses(
  table: readonly ProcessEntry[],
  root: number | null,
  marked: (entry: ProcessEntry) => boolean,
): readonly ProcessEntry[] {
  const own = table.find((entry) => entry.pid === process.pid)?.session;
  const candidates = table.filter(
    ({ pid, session }) => pid > 1 && pid !== process.pid && (session !== own || pid === root),
  );
  const found = new Map<number, ProcessEntry>();
  const sessions = new Set(root === null ? [] : [root]);
  for (const entry of candidates) if (entry.pid === root || marked(entry)) found.set(entry.pid, entry);
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

/** The flag of kernel threads. */
const KERNEL_FLAG = 0x200000;
/** Positions of fields, counted from the state. */
const FIELD = { state: 0, parent: 1, session: 3, flags: 6, startedAt: 19 } as const;

/** The name may hold spaces and brackets, so the fields begin after the last bracket. Empty if it cannot be read. */
function entryOf(pid: number): readonly ProcessEntry[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const state = fields[FIELD.state];
    return [
      {
        pid,
        parent: Number(fields[FIELD.parent]),
        session: Number(fields[FIELD.session]),
        alive: state !== "Z" && state !== "X",
        kernel: (Number(fields[FIELD.flags]) & KERNEL_FLAG) !== 0,
        startedAt: Number(fields[FIELD.startedAt]),
      },
    ];
  } catch {
    return [];
  }
}
