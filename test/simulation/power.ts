/**
 * Loss of power. It records all writes in order, and which of them are durable. A cut keeps the durable writes and a
 * random number of the deferred ones after them, without a gap.
 */

import type { Commit, Store } from "../../src/contracts/store.ts";
import type { Random } from "./random.ts";

/** A write, as the store was given it. */
export interface Write {
  readonly name: string;
  readonly given: readonly unknown[];
}

export interface Power {
  /** `refused`: the disk failed, and no caller was told that the write is durable. */
  wrote(write: Write, refused: boolean): void;
  /** True while a write is not durable. */
  behind(): boolean;
  /** Starts an fsync of everything written until now. It is durable once the returned function is called. */
  sync(): () => void;
  /** Cuts the power and returns the writes that are left; null if everything was durable. */
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

/** Repeats the writes in an empty store. */
export async function writeAgain(store: Store, writes: readonly Write[]): Promise<void> {
  const members: Record<string, unknown> = { ...store };
  for (const { name, given } of writes) await Reflect.apply(members[name] as () => unknown, store, given);
}

/** A store whose mail is durable once it is put, with everything that was written before it. */
export function withDurableMail(store: Store, power: Power): Store {
  return {
    ...store,
    async putMail(mail) {
      const put = await store.putMail(mail);
      power.wrote({ name: "putMail", given: [mail] }, false);
      return put;
    },
  };
}
