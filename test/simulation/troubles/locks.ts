/**
 * A store that cannot be written, or not even read, for a long stretch of time; and a tree whose rows it never takes.
 */

import { ErrandError } from "../../../src/index.ts";
import { rowRefused } from "../../../src/stores/refusals.ts";
import type { Commit } from "../../../src/contracts/store.ts";
import type { SimulatedWorld } from "../simulated-world.ts";
import type { Trouble, Troubles } from "./troubles.ts";

export interface Locks {
  /** Begins a locked period, if the seed has one, and returns its end. */
  begin(): number | null;
  /** The error if the store refuses a call, or a promise if the call has to wait. */
  locked(name: string, commit: Commit | null): Error | Promise<void> | null;
  /** Ends the period early, because its process is gone. */
  lift(): void;
  /** The tree whose rows cannot be written. */
  readonly poisoned: string | null;
}

const STRETCHES = [2_000, 15_000, 120_000, 300_000] as const;
const KINDS: readonly Trouble[] = ["locked-commits", "locked-store", "waiting-store", "full-disk"];
/** Calls that only writers make. */
const WRITES: ReadonlySet<string> = new Set([
  "commit",
  "markFailure",
  "markUnplaced",
  "release",
  "expire",
  "setAnchor",
  "raiseFormat",
]);

export function createLocks(
  troubles: Troubles,
  world: SimulatedWorld,
  count: (what: string) => void,
  onOver: (refusals: number, milliseconds: number) => void,
): Locks {
  let kind: Trouble | null = null;
  let stretch = 0;
  let refusals = 0;
  const waiters: (() => void)[] = [];

  function over(): void {
    kind = null;
    for (const resolve of waiters.splice(0)) resolve();
  }

  const locks = {
    poisoned: null as string | null,
    begin() {
      const mine = KINDS.filter((one) => troubles.kinds.has(one));
      const chosen = mine[troubles.random.below(Math.max(1, mine.length))];
      if (chosen === undefined || troubles.healed || kind !== null) return null;
      kind = chosen;
      stretch += 1;
      const number = stretch;
      const length = troubles.random.pick(STRETCHES);
      const end = world.now + length;
      refusals = 0;
      count(`trouble ${chosen}`);
      world.at(end, () => {
        if (number !== stretch || kind === null) return;
        over();
        onOver(refusals, length);
      });
      return end;
    },
    locked(name: string, commit: Commit | null) {
      if (commit !== null && holdsPoisoned(commit))
        return rowRefused("The store of the simulation", new TypeError("A value cannot be bound."));
      if (kind === null) return null;
      if (name === "commit") refusals += 1;
      if (kind === "waiting-store") return new Promise<void>((resolve) => waiters.push(resolve));
      if (kind === "full-disk") return WRITES.has(name) ? refusal("store-full", "full") : null;
      return kind === "locked-store" || WRITES.has(name) ? refusal("store-busy", "locked") : null;
    },
    lift: () => {
      stretch += 1;
      over();
    },
  };

  function holdsPoisoned(commit: Commit): boolean {
    if (!troubles.kinds.has("unwritable-row")) return false;
    if (locks.poisoned === null && !troubles.healed && troubles.random.percent(POISONS)) {
      locks.poisoned = commit.trees.find((part) => part.create === undefined)?.tree ?? null;
      if (locks.poisoned !== null) count("trouble unwritable-row");
    }
    return commit.trees.some((part) => part.tree === locks.poisoned);
  }
  return locks;
}

/** Percentage of commits after which a tree is poisoned. */
const POISONS = 10;

function refusal(code: "store-full" | "store-busy", why: string): ErrandError {
  return new ErrandError(code, `The store of the simulation is ${why}.`);
}
