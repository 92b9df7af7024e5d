/**
 * Readers that follow the events of trees, each at its own pace, and after a crash from its cursor (I24). Between two
 * happenings a reader may take an event, with its own randomness, so that readers do not affect the rest of the seed.
 */

import type { Errand, TreeEvent } from "../../src/index.ts";
import { checkEvent, checkStillThere } from "./invariants/reading.ts";
import type { Random } from "./random.ts";
import type { Watch } from "./watch.ts";

export interface Readers {
  /** The process has started: every reader continues from its cursor. */
  comeBack(errand: Errand): void;
  /** The process has died, with the events that it had not delivered. */
  leave(): void;
  /** Some readers take an event, if there is one. */
  turn(): void;
  /** Every reader takes its waiting event. True if there was one. */
  take(): boolean;
  /**
   * The sequence up to which a tree was read; null if it has no reader, or its reader got the error that the disk
   * failed.
   */
  seen(tree: string): number | null;
}

interface Reader {
  readonly tree: string;
  seen: number;
  events: AsyncIterator<TreeEvent> | null;
  /** The event that has arrived and was not taken yet. */
  come: TreeEvent | null;
  /** True once it got the error that the disk failed: it gets no event before the next process. */
  refused: boolean;
}

/** The percentage of turns in which a reader takes an event. */
const PACES = [0, 10, 100] as const;
/** Percentage of seeds with readers. */
const FOLLOWED = 25;

/** `closely`: this seed has readers, which take each event at once. */
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
