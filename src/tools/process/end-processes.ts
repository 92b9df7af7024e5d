/**
 * Owns the ending of a command's processes: all of them, and waits until they are gone.
 *
 * Invariants:
 *  1. Outside a pid namespace every process is stopped before any is killed, in rounds until none is new: what is stopped starts
 *     nothing, and its children keep their parent, by which they are found.
 *  2. Inside one, everything but the namespace's starter is killed: with its first process the kernel ends all others, also those
 *     that cannot be recognised, and the starter ends by itself when they have ended.
 *  3. It resolves when no process is left, or after PATIENCE_MS with those that would not go. Where one cannot be told yet, because it is just
 *     becoming another program, or ended while the table was read, it looks again.
 */

import type { World } from "../../contracts/world.ts";
import { commandProcesses, type ProcessEntry, processMark, readProcessTable } from "./process-table.ts";

export interface CommandProcesses {
  readonly root: number;
  readonly mark: string;
  /** When the root was started: what is older is not the command's. */
  readonly startedAt: number;
  readonly namespaced: boolean;
}

const PATIENCE_MS = 5_000;
/** How long a clear answer is waited for: others may start processes without an environment, or so many that no reading is whole. */
const UNSETTLED_MS = 1_000;
const POLL_MS = 5;
const ROUNDS = 100;
const UNSETTLED_ROUNDS = 10;

/** How many processes were still there at the end: 0 unless the system refused. */
export async function endProcesses(command: CommandProcesses, world: Pick<World, "after">): Promise<number> {
  if (!command.namespaced) stopAll(command);
  for (let waited = 0; ; waited += POLL_MS) {
    const { left, unsettled } = look(command);
    if (left.length === 0 && (!unsettled || waited >= UNSETTLED_MS)) {
      // Without a process table the group is all that can be named.
      send(-command.root, "SIGKILL");
      return 0;
    }
    if (waited >= PATIENCE_MS) return left.length;
    for (const { pid } of targets(command, left)) send(pid, "SIGKILL");
    await new Promise<void>((resolve) => void world.after(POLL_MS, resolve));
  }
}

/** Those that are known to be the command's, and whether others may turn out to be. */
function look({ root, mark, startedAt }: CommandProcesses): {
  readonly left: readonly ProcessEntry[];
  readonly unsettled: boolean;
} {
  const { entries, torn } = readProcessTable();
  let unsettled = torn;
  const found = commandProcesses(entries, root, (entry) => {
    const marked = processMark(entry.pid, mark);
    if (marked === "unsettled" && entry.alive && !entry.kernel && entry.startedAt >= startedAt) unsettled = true;
    return marked === "marked";
  });
  return { left: found.filter(({ alive }) => alive), unsettled };
}

function targets({ root, namespaced }: CommandProcesses, found: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const inner = found.filter(({ pid }) => pid !== root);
  return namespaced && inner.length > 0 ? inner : found;
}

function stopAll(command: CommandProcesses): void {
  const stopped = new Set<number>();
  let unsettledRounds = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { left, unsettled } = look(command);
    const fresh = left.filter(({ pid }) => !stopped.has(pid));
    if (fresh.length === 0) {
      // Who cannot be told soon is left to the killing, which does not hold this process up.
      if (!unsettled || unsettledRounds === UNSETTLED_ROUNDS) return;
      unsettledRounds += 1;
    }
    for (const { pid } of fresh) {
      stopped.add(pid);
      send(pid, "SIGSTOP");
    }
  }
}

/** It may have gone meanwhile. */
function send(pid: number, signal: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Nothing to do: the caller looks again.
  }
}
