/**
 * Ends all processes of a tree and waits until they are gone.
 *
 * Invariants:
 *  1. Without a pid namespace, every process is stopped before any is killed, in rounds until no new one appears. A
 *     stopped process starts no others, and its children keep their parent, which identifies them.
 *  2. In a namespace, all processes but its starter are killed. When its first process dies, the kernel ends all
 *     others, including those that cannot be recognised. Then the starter ends by itself.
 *  3. It resolves when no process is left, or after MAX_WAIT_MS with the number of those that are. It reads the process
 *     table again while the owner of a process is unclear: a process that is just becoming another program has no
 *     environment, and one that ended during the reading may have started another.
 */

import { type ProcessEntry, processMark, readProcessTable, treeProcesses } from "./process-table.ts";

export interface ProcessTree {
  /** Null if only marks are known: an earlier process of Errand started the tree. */
  readonly root: number | null;
  /** One, or those of several trees that are to end together. */
  readonly marks: readonly string[];
  /** When the root was started. Older processes are not the tree's. */
  readonly startedAt: number;
  readonly namespaced: boolean;
}

/** Calls back after this many milliseconds, unless the returned function was called before. */
export interface Timers {
  after(milliseconds: number, callback: () => void): () => void;
}

const MAX_WAIT_MS = 5_000;
/** The longest wait for a clear process table. Other users may start processes all the time. */
const UNCLEAR_MS = 1_000;
const POLL_MS = 5;
const ROUNDS = 100;
const UNCLEAR_ROUNDS = 10;

/** Returns how many processes are left: 0, unless the system refused to end some. */
export async function endProcesses(tree: ProcessTree, timers: Timers): Promise<number> {
  if (!tree.namespaced) stopAll(tree);
  for (let waited = 0; ; waited += POLL_MS) {
    const { left, unclear } = findProcesses(tree);
    if (left.length === 0 && (!unclear || waited >= UNCLEAR_MS)) {
      // Without a process table only the process group is known.
      if (tree.root !== null) send(-tree.root, "SIGKILL");
      return 0;
    }
    if (waited >= MAX_WAIT_MS) return left.length;
    for (const { pid } of targets(tree, left)) send(pid, "SIGKILL");
    await new Promise<void>((resolve) => void timers.after(POLL_MS, resolve));
  }
}

/** Sends SIGTERM to all processes that the tree has now. The starter of a namespace would end the others at once. */
export function askProcessesToEnd(tree: ProcessTree): void {
  const { left } = findProcesses(tree);
  for (const { pid } of left) if (!tree.namespaced || pid !== tree.root) send(pid, "SIGTERM");
  if (left.length === 0 && tree.root !== null) send(-tree.root, "SIGTERM");
}

/** The live processes of the tree. `unclear`: there may be more. */
function findProcesses({ root, marks, startedAt }: ProcessTree): {
  readonly left: readonly ProcessEntry[];
  readonly unclear: boolean;
} {
  const { entries, incomplete } = readProcessTable();
  let unclear = incomplete;
  const found = treeProcesses(entries, root, (entry) => {
    const marked = processMark(entry.pid, marks);
    if (marked === "unclear" && entry.alive && !entry.kernel && entry.startedAt >= startedAt) unclear = true;
    return marked === "marked";
  });
  return { left: found.filter(({ alive }) => alive), unclear };
}

function targets({ root, namespaced }: ProcessTree, found: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const inner = found.filter(({ pid }) => pid !== root);
  return namespaced && inner.length > 0 ? inner : found;
}

function stopAll(tree: ProcessTree): void {
  const stopped = new Set<number>();
  let unclearRounds = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { left, unclear } = findProcesses(tree);
    const fresh = left.filter(({ pid }) => !stopped.has(pid));
    if (fresh.length === 0) {
      // This loop blocks the process, so it gives up soon. The loop that kills does not block.
      if (!unclear || unclearRounds === UNCLEAR_ROUNDS) return;
      unclearRounds += 1;
    }
    for (const { pid } of fresh) {
      stopped.add(pid);
      send(pid, "SIGSTOP");
    }
  }
}

function send(pid: number, signal: "SIGSTOP" | "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended, or cannot be ended: the caller reads the process table again.
  }
}
