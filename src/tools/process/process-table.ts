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
  /** True for a thread of the kernel. */
  readonly kernel: boolean;
  /** When it was started, in ticks since the machine was. */
  readonly startedAt: number;
}

const GONE: ReadonlySet<string> = new Set(["ENOENT", "ESRCH"]);

/** The name of the environment variable that marks what a command started. */
export const MARK_NAME = "ERRAND_COMMAND";

export interface ProcessTable {
  readonly entries: readonly ProcessEntry[];
  /**
   * True if a process ended while the table was read. It may have started another one, which is not in the table: on a busy machine reading
   * takes long enough for a chain of processes to run ahead of it.
   */
  readonly torn: boolean;
}

export function readProcessTable(): ProcessTable {
  let names: readonly string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return { entries: [], torn: false };
  }
  const pids = names.filter((name) => /^[1-9]\d*$/.test(name)).map(Number);
  const entries = pids.flatMap(entryOf);
  return { entries, torn: entries.length < pids.length };
}

/**
 * Whether the process was started with the mark; `unsettled` if it has no environment, as every process for a moment while it becomes another program,
 * or if it has ended since. Environments of other users cannot be read, and count as unmarked.
 */
export function processMark(pid: number, mark: string): "marked" | "unmarked" | "unsettled" {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
    if (environment === "") return "unsettled";
    return environment.split("\0").includes(`${MARK_NAME}=${mark}`) ? "marked" : "unmarked";
  } catch (error) {
    return error instanceof Error && "code" in error && GONE.has(String(error.code)) ? "unsettled" : "unmarked";
  }
}

/** When the process was started; 0 where that cannot be read, which is before all others. */
export function processStartedAt(pid: number): number {
  return entryOf(pid)[0]?.startedAt ?? 0;
}

export function commandProcesses(
  table: readonly ProcessEntry[],
  root: number,
  marked: (entry: ProcessEntry) => boolean,
): readonly ProcessEntry[] {
  const own = table.find((entry) => entry.pid === process.pid)?.session;
  const candidates = table.filter(
    ({ pid, session }) => pid > 1 && pid !== process.pid && (session !== own || pid === root),
  );
  const found = new Map<number, ProcessEntry>();
  const sessions = new Set([root]);
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

/** The bit of a process's flags that says that it is a thread of the kernel. */
const KERNEL_FLAG = 0x200000;
/** Where the fields stand that are read, counted from the state. */
const FIELD = { state: 0, parent: 1, session: 3, flags: 6, startedAt: 19 } as const;

/** A name may hold spaces and brackets: the fields begin behind the last one. */
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
