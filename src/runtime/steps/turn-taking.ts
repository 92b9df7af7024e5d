/**
 * When commits have their turn: in a later turn of the event loop, where what is ready by then shares one; or at once after another that waited for nothing, for what
 * that one's effects brought back without any I/O.
 *
 * Invariant: one at a time.
 */

import type { World } from "../../contracts/world.ts";

export interface TurnTaking {
  /** Tells that there is something to take. */
  ask(): void;
  /** True from asking until nothing is left to take. */
  busy(): boolean;
}

interface TurnTakingParts {
  readonly world: World;
  /** Takes what there is, and resolves with how many inputs that were; with infinity if it had to wait for something outside the process. */
  readonly take: () => Promise<number>;
  /** True if there is something to take. */
  readonly more: () => boolean;
  /** Called when there is nothing to take, though what was taken last may bring more. */
  readonly onRest: () => void;
}

/** After so many inputs in a turn of the event loop others have theirs, V8's collector among them: a fan-out held more memory without. */
const MOST_IN_A_TURN = 64;

export function createTurnTaking({ world, take, more, onRest }: TurnTakingParts): TurnTaking {
  let scheduled = false;
  let running = false;
  /** True from the end of one until what it set off has run. */
  let following = false;
  /** Inputs that were taken in this turn of the event loop. */
  let taken = 0;

  function ask(): void {
    if (scheduled || running || following) return;
    scheduled = true;
    world.soon(() => {
      scheduled = false;
      taken = 0;
      void run();
    });
  }

  async function run(): Promise<void> {
    running = true;
    try {
      taken += await take();
    } finally {
      running = false;
    }
    if (!more()) onRest();
    if (taken < MOST_IN_A_TURN) follow();
    else if (more()) ask();
  }

  function follow(): void {
    following = true;
    world.next(() => {
      following = false;
      if (more()) void run();
      // Whoever asked meanwhile had nothing to be taken, and is heard all the same.
      else onRest();
    });
  }

  return { ask, busy: () => scheduled || running || (following && more()) };
}
