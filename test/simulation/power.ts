/**
 * What a loss of power takes back. All that is written is kept in order, with what of it is durable; a cut leaves that,
 * and of what deferFsync as much as chance will have, but nothing behind a gap.
 */

import type { Commit, Store } from "../../src/contracts/store.ts";
import type { Random } from "./random.ts";

/** A write, as the store was given it. */
export interface Write {
  readonly name: string;
  readonly given: readonly unknown[];
}

export interface Power {
  /** `refused`: the disk failed, and nobody was told that it is durable. */
  wrote(write: Write, refused: boolean): void;
  /** True while something that was written is not durable. */
  behind(): boolean;
  /** Makes durable what was written until now: it is when the function that this gives is called. */
  sync(): () => void;
  /** Cuts it, and gives what is left; null if there is nothing that it could take. */
  cut(random: Random): readonly Write[] | null;
}

export function createPower(): Power {
  const written: Write[] = [];
  let durable = 0;
  return {
    wrote(write, refused) {
      written.push(write);
      if (!refused && commitOf(write)?.deferFsync !== true) durable = written.length;
    },
    behind: () => durable < written.length,
    sync() {
      const until = written.length;
      return () => {
        durable = Math.max(durable, until);
      };
    },
    cut(random) {
      if (durable === written.length) return null;
      written.length = durable + random.below(written.length - durable);
      durable = written.length;
      return [...written];
    },
  };
}

export function commitOf({ name, given }: Write): Commit | null {
  return name === "commit" ? (given[0] as Commit) : null;
}

/** Writes all of it into an empty store. */
export async function writeAgain(store: Store, writes: readonly Write[]): Promise<void> {
  const members: Record<string, unknown> = { ...store };
  for (const { name, given } of writes) await Reflect.apply(members[name] as () => unknown, store, given);
}
