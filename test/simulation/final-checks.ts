/**
 * The end of a simulation: waiting until nothing is left to happen, healing what is still owed, and the checks of a
 * system at rest and after its close.
 */

import { checkAgentsAtRest, checkRunAtRest, checkStoreAtRest, checkStoredJournal } from "./invariants/at-rest.ts";
import {
  checkAcknowledged,
  checkDelivered,
  checkPost,
  checkPostEnded,
  checkStrikesKnown,
} from "./invariants/outside-checks.ts";
import { checkSeen } from "./invariants/reading.ts";
import { demand, Violation } from "./invariants/violation.ts";
import type { Machine } from "./machine-parts.ts";
import type { Outside } from "./outside.ts";
import type { Readers } from "./readers.ts";
import { POLL_LATE_MS, type SimulatedWorld } from "./simulated-world.ts";
import type { Watch } from "./watch.ts";

/** Rounds of healing: the answer to one question can lead to the next question. */
const ROUNDS = 6;
/** A simulation should come to rest within this many happenings. */
const TOO_MANY = 6_000;

/** Runs the world until only polls are left. */
export async function runToRest(world: SimulatedWorld, watch: Watch, between: () => Promise<void>): Promise<void> {
  await world.drain();
  for (let quiet = 0; quiet < 2;) {
    if (watch.failure !== null) return;
    if (world.happened > TOO_MANY) {
      watch.check(() => {
        throw new Violation("I8", `no rest after ${TOO_MANY} happenings`);
      });
      return;
    }
    if (await world.step()) {
      await between();
      continue;
    }
    // Only polls are left. The system is at rest once they have found nothing.
    quiet += 1;
    world.at(world.now + 2 * POLL_LATE_MS, () => {});
    while (await world.step()) {
      await between();
      if (watch.failure !== null || world.happened > TOO_MANY) break;
    }
  }
}

/** Asks again for everything that was not answered, until nothing is owed. Channels and disks work again. */
export async function heal(
  machine: Machine,
  world: SimulatedWorld,
  watch: Watch,
  comeBack: () => void,
  owing: () => boolean,
  between: () => Promise<void>,
): Promise<void> {
  if (machine.errand === null) {
    watch.check(() => {
      throw new Violation("I10", "the process never came up again");
    });
    return;
  }
  for (let round = 0; round < ROUNDS && watch.failure === null && owing(); round += 1) {
    comeBack();
    await runToRest(world, watch, between);
  }
}

/** True while somebody outside waits for an answer or a message. */
export function isOwed(watch: Watch, outside: Outside): boolean {
  if (outside.posts.some((post) => !post.settled)) return true;
  if ([...watch.trees.values()].some((tree) => tree.questions.size > 0)) return true;
  // Only the last delivery counts: an acknowledgement to a dead process is lost.
  const last = new Map(outside.deliveries.map((delivery) => [delivery.id, delivery.taken && !delivery.slow]));
  const settled = (id: string): boolean => outside.acknowledged.has(id) || last.get(id) === true;
  return [...watch.trees.values()].some((tree) => [...tree.sent].some((key) => !settled(`${tree.id}/${key}`)));
}

/** The checks of a system at rest. */
export async function checkAtRest(
  machine: Machine,
  watch: Watch,
  outside: Outside,
  readers: Readers,
  poisoned: string | null,
  replayAll: boolean,
): Promise<void> {
  const { store, errand } = machine;
  if (store === null || errand === null) return;
  try {
    for (const tree of watch.trees.values()) {
      // Its rows cannot be written, so it waits for a person. Only the other trees must be at rest.
      if (tree.id === poisoned) continue;
      for (const run of tree.runs.values()) checkRunAtRest(run);
      checkAgentsAtRest(tree);
      checkDelivered(outside, tree);
      checkSeen(tree, readers.seen(tree.id));
      await checkStoreAtRest(store, tree);
      await checkStoredJournal(store, tree);
      // Every row was replayed at its commit (watch.ts). The store's journal differs only after an erasure.
      if (!replayAll && tree.erased.size === 0) continue;
      const { difference, rows } = await errand.replay(tree.id);
      demand("I20", difference === null, () => `replay differs: ${JSON.stringify(difference)}`);
      demand("I21", rows === tree.rows.length, () => `replay saw ${rows} of ${tree.rows.length} rows`);
    }
    checkStrikesKnown(outside, watch.trees.values());
    for (const post of outside.posts) {
      if (post.tree === poisoned) continue;
      checkPost(post, watch.trees.get(post.tree));
      checkPostEnded(post, watch.trees.get(post.tree));
      demand("I8", post.settled, () => `the post ${post.id} was never answered`);
    }
  } catch (error) {
    watch.check(() => {
      throw error;
    });
  }
}

/** I27: after the close no timer, no call and no connection is left. */
export async function checkShutdown(
  machine: Machine,
  world: SimulatedWorld,
  watch: Watch,
  outside: Outside,
  poisoned: string | null,
): Promise<void> {
  const { life, store } = machine;
  if (life === null || store === null) return;
  if (machine.errand === null) return machine.die();
  const closing: { left: { readonly timers: number; readonly calls: number } | null } = { left: null };
  void machine.close(0).then((left) => {
    closing.left = left;
  });
  for (let turn = 0; turn < 50 && closing.left === null; turn += 1) if (!(await world.step())) await world.drain();
  const { left } = closing;
  watch.check(() => {
    demand("I27", left !== null, () => "the process does not close");
    demand("I27", left.timers === 0, () => `${left.timers} timers are left after the close`);
    demand("I27", left.calls === 0, () => `${left.calls} model calls are left after the close`);
  });
  if (left === null) return machine.die();
  watch.check(() => {
    for (const tree of watch.trees.values()) if (tree.id !== poisoned) checkAcknowledged(outside, tree);
  });
  const open = await store.tree("x").then(
    () => true,
    () => false,
  );
  watch.check(() => demand("I27", !open, () => "the store is open after the close"));
}
