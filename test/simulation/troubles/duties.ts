/**
 * Checks the periodic duties of a process: it takes mail that another process has put, and sweeps old trees.
 */

import { asPostId, asTreeId } from "../../../src/core/values/ids.ts";
import type { Store } from "../../../src/index.ts";
import { sha256 } from "../invariants/chain.ts";
import { PROGRESS_MS, type Progress } from "../invariants/progress.ts";
import type { Random } from "../random.ts";
import { POLL_LATE_MS, type SimulatedWorld, SWEEP_MS } from "../simulated-world.ts";
import type { WatchedTree } from "../invariants/watched-tree.ts";

interface DutiesParts {
  readonly world: SimulatedWorld;
  readonly watch: { readonly trees: ReadonlyMap<string, Pick<WatchedTree, "posts">> };
  readonly progress: Progress;
  readonly random: Random;
  readonly secondHandle: () => Pick<Store, "putMail">;
  /** The tree whose rows cannot be written. */
  readonly poisoned: () => string | null;
  /** The process that has the duties now. */
  readonly machine: () => { readonly life: { readonly ended: boolean } | null };
}

export interface Duties {
  /** Called for a call of the store that is not refused. */
  called(name: string): void;
  /** Puts mail for every tree. It must be taken soon, except for a tree whose rows cannot be written. */
  probe(): void;
  /** The next sweep of old trees must come within an hour. */
  probeSweep(): void;
}

export function createDuties({ world, watch, progress, random, secondHandle, poisoned, machine }: DutiesParts): Duties {
  let sweeps = 0;

  /** Polls run when time moves, and do not move it. */
  function letTimePass(from: number): void {
    for (let at = POLL_LATE_MS; at <= PROGRESS_MS + POLL_LATE_MS; at += POLL_LATE_MS) world.at(from + at, () => {});
  }

  return {
    called(name) {
      if (name === "expire") sweeps += 1;
    },
    probe() {
      const { life } = machine();
      for (const tree of watch.trees.keys()) {
        if (tree === poisoned()) continue;
        const id = asPostId(`${random.hex(8)}-${random.hex(4)}-4${random.hex(3)}-8${random.hex(3)}-${random.hex(12)}`);
        // It cancels nothing: no run has that number.
        const input = { type: "cancel-asked", id, run: NO_RUN };
        const payload = JSON.stringify({ input, texts: [] });
        void secondHandle().putMail({ tree: asTreeId(tree), id, hash: sha256(JSON.stringify([input, []])), payload });
        // The mail itself may be what the store cannot write.
        const excused = (): boolean => life?.ended !== false || tree === poisoned();
        const done = (): boolean => excused() || watch.trees.get(tree)?.posts.has(id) !== false;
        progress.owe({ invariant: "duties", what: `the mail ${id}`, since: world.now, done });
      }
      letTimePass(world.now);
    },
    probeSweep() {
      const { life } = machine();
      const before = sweeps;
      const since = world.now + SWEEP_MS;
      const done = (): boolean => life?.ended !== false || sweeps > before;
      progress.owe({ invariant: "duties", what: "the sweep of old trees", since, done });
      letTimePass(since);
    },
  };
}

const NO_RUN = 9_999;
