/**
 * Ends all processes of a command and waits until they are gone.
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

import type { World } from "../../contracts/world.ts";
import { commandProcesses, type ProcessEntry, processMark, readProcessTable } from "./process-table.ts";

export interface CommandProcesses {
  readonly root: number;
  readonly mark: string;
  /** When the root was started. Older processes are not the command's. */
  readonly startedAt: number;
  readonly namespaced: boolean;
}

const MAX_WAIT_MS = 5_000;
/** The longest wait for a clear process table. Other users may start processes all the time. */
const UNCLEAR_MS = 1_000;
const POLL_MS = 5;
const ROUNDS = 100;
const UNCLEAR_ROUNDS = 10;

/** Returns how many processes are left: 0, unless the system refused to end some. */
export async function endProcesses(command: CommandProcesses, world: Pick<World, "after">): Promise<number> {
  if (!command.namespaced) stopAll(command);
  for (let waited = 0; ; waited += POLL_MS) {
    const { left, unclear } = findProcesses(command);
    if (left.length === 0 && (!unclear || waited >= UNCLEAR_MS)) {
      // Without a process table only the process group is known.
      send(-command.root, "SIGKILL");
      return 0;
    }
    if (waited >= MAX_WAIT_MS) return left.length;
    for (const { pid } of targets(command, left)) send(pid, "SIGKILL");
    await new Promise<void>((resolve) => void world.after(POLL_MS, resolve));
  }
}

/** The live processes of the command. `unclear`: there may be more. */
function findProcesses({ root, mark, startedAt }: CommandProcesses): {
  readonly left: readonly ProcessEntry[];
  readonly unclear: boolean;
} {
  const { entries, incomplete } = readProcessTable();
  let unclear = incomplete;
  const found = commandProcesses(entries, root, (entry) => {
    const marked = processMark(entry.pid, mark);
    if (marked === "unclear" && entry.alive && !entry.kernel && entry.startedAt >= startedAt) unclear = true;
    return marked === "marked";
  });
  return { left: found.filter(({ alive }) => alive), unclear };
}

function targets({ root, namespaced }: CommandProcesses, found: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const inner = found.filter(({ pid }) => pid !== root);
  return namespaced && inner.length > 0 ? inner : found;
}

function stopAll(command: CommandProcesses): void {
  const stopped = new Set<number>();
  let unclearRounds = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { left, unclear } = findProcesses(command);
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

function send(pid: number, signal: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended, or cannot be ended: the caller reads the process table again.
  }
}
