/**
 * Owns the ending of a command's processes: all of them, and waits until they are gone.
 *
 * Invariants:
 *  1. Outside a pid namespace every process is stopped before any is killed, in rounds until none is new: what is stopped starts
 *     nothing, and its children keep their parent, by which they are found.
 *  2. Inside one, everything but the namespace's starter is killed: with its first process the kernel ends all others, also those
 *     that cannot be recognised, and the starter ends by itself when they have ended.
 *  3. It resolves when no process is left, or after PATIENCE_MS with those that would not go.
 */

import type { World } from "../../contracts/world.ts";
import { commandProcesses, processIsMarked, type ProcessEntry, readProcessTable } from "./process-table.ts";

export interface CommandProcesses {
  readonly root: number;
  readonly mark: string;
  readonly namespaced: boolean;
}

const PATIENCE_MS = 5_000;
const POLL_MS = 5;
const ROUNDS = 100;

/** How many processes were still there at the end: 0 unless the system refused. */
export async function endProcesses(command: CommandProcesses, world: Pick<World, "after">): Promise<number> {
  if (!command.namespaced) stopAll(command);
  for (let waited = 0; ; waited += POLL_MS) {
    const left = find(command);
    if (left.length === 0) {
      // Without a process table the group is all that can be named.
      send(-command.root, "SIGKILL");
      return 0;
    }
    if (waited >= PATIENCE_MS) return left.length;
    for (const { pid } of targets(command, left)) send(pid, "SIGKILL");
    await new Promise<void>((resolve) => void world.after(POLL_MS, resolve));
  }
}

function find({ root, mark }: CommandProcesses): readonly ProcessEntry[] {
  return commandProcesses(readProcessTable(), root, (pid) => processIsMarked(pid, mark)).filter(({ alive }) => alive);
}

function targets({ root, namespaced }: CommandProcesses, found: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const inner = found.filter(({ pid }) => pid !== root);
  return namespaced && inner.length > 0 ? inner : found;
}

function stopAll(command: CommandProcesses): void {
  const stopped = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    const fresh = find(command).filter(({ pid }) => !stopped.has(pid));
    if (fresh.length === 0) return;
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
