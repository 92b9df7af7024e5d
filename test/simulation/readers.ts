/**
 * Those who follow the events of trees, each at its own pace, and after a crash from where it was (I24). A reader is
 * asked between two happenings whether it takes something, with randomness of its own: nothing in the world waits for
 * it or changes because of it.
 */

import type { Errand, TreeEvent } from "../../src/index.ts";
import { checkEvent, checkStillThere } from "./invariants/reading.ts";
import type { Random } from "./random.ts";
import type { Watch } from "./watch.ts";

export interface Readers {
  /** The process is up: every reader goes on from its cursor. */
  comeBack(errand: Errand): void;
  /** The process is gone, and what it was about to say with it. */
  leave(): void;
  /** Some of them take an event, if one is there. */
  turn(): void;
  /** Takes whatever is there. True if there was something. */
  take(): boolean;
  /**
   * The sequence up to which a tree was read; null where nobody reads it, or whoever did was told that the disk has
   * failed.
   */
  seen(tree: string): number | null;
}

interface Reader {
  readonly tree: string;
  seen: number;
  events: AsyncIterator<TreeEvent> | null;
  /** The event that has come and was not taken yet. */
  come: TreeEvent | null;
  /** True once it was told that the disk has failed: it is told nothing more before the next process. */
  refused: boolean;
}

/** How many times in a hundred a reader takes something when it is asked. */
const PACES = [0, 10, 100] as const;
/** In how many of a hundred seeds trees are followed. */
const FOLLOWED = 25;

/** `closely`: they are followed in this seed, and each event is taken as soon as it comes. */
export function createReaders(random: Random, closely: boolean, watch: Watch, count: (what: string) => void): Readers {
  const readers = new Map<string, Reader>();
  const followed = random.percent(FOLLOWED) || closely;
  const drawn = random.pick(PACES);
  const pace = closely ? 100 : drawn;
  let errand: Errand | null = null;

  function follow(reader: Reader): void {
    if (errand === null) return;
    if (reader.seen > 0) count("reader resumed");
    reader.refused = false;
    reader.events = errand.journal(reader.tree, { after: reader.seen })[Symbol.asyncIterator]();
    ask(reader, reader.events);
  }

  function ask(reader: Reader, events: AsyncIterator<TreeEvent>): void {
    events.next().then(
      ({ value, done }) => {
        if (reader.events === events && done !== true) reader.come = value;
      },
      () => {
        if (reader.events === events) reader.refused = true;
      },
    );
  }

  function takeOne(reader: Reader): boolean {
    const { come, events } = reader;
    if (come === null || events === null) return false;
    watch.check(() => checkEvent(watch.trees.get(reader.tree), come, reader.seen));
    if (come.seq + BEHIND < (watch.trees.get(reader.tree)?.rows.length ?? 0)) count("reader behind");
    reader.seen = come.seq;
    reader.come = null;
    ask(reader, events);
    return true;
  }

  function begin(): void {
    if (!followed) return;
    for (const tree of watch.trees.keys()) {
      if (readers.has(tree)) continue;
      const reader: Reader = { tree, seen: 0, events: null, come: null, refused: false };
      readers.set(tree, reader);
      follow(reader);
    }
  }

  return {
    comeBack(up) {
      errand = up;
      for (const reader of readers.values()) follow(reader);
    },
    leave() {
      errand = null;
      for (const { tree, seen, come } of readers.values())
        watch.check(() => checkStillThere(watch.trees.get(tree), come?.seq ?? seen));
      for (const reader of readers.values()) Object.assign(reader, { events: null, come: null });
    },
    turn() {
      begin();
      for (const reader of readers.values()) if (reader.come !== null && random.percent(pace)) takeOne(reader);
    },
    take() {
      begin();
      return [...readers.values()].filter(takeOne).length > 0;
    },
    seen(tree) {
      const reader = readers.get(tree);
      return reader === undefined || reader.refused ? null : reader.seen;
    },
  };
}

const BEHIND = 10;
