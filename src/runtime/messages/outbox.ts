/**
 * The way out to users. A message is in the store's outbox from the commit that decided it until a channel has taken it; a channel
 * that is attached later, or after a crash, gets what was not taken, under the same id, marked as repeated.
 */

import type { Channel } from "../../contracts/channel.ts";
import type { OutboxKey, Store } from "../../contracts/store.ts";
import type { StepKey, TreeId } from "../../core/ids.ts";
import type { Outgoing } from "../../core/tree.ts";

export interface Outbox {
  attach(tree: TreeId, channel: Channel): Promise<void>;
  detach(tree: TreeId): void;
  /** Trees that have a channel here. */
  attached(): Iterable<TreeId>;
  send(tree: TreeId, message: Outgoing): void;
  /** Messages may have become durable that were not sent: the tree's channel gets them. */
  recheck(tree: TreeId): Promise<void>;
  /** It is on record that these were taken: they are in the store's outbox no more. */
  settled(keys: readonly OutboxKey[]): void;
  /** Resolves when no delivery is under way. */
  idle(): Promise<void>;
}

export function createOutbox(store: Store, acknowledge: (key: OutboxKey) => void): Outbox {
  const channels = new Map<TreeId, Channel>();
  /** Messages go out one after the other within a tree. */
  const tails = new Map<TreeId, Promise<void>>();
  /** Messages that are on their way to a channel, or were taken by one without that being on record yet. */
  const sent = new Set<string>();

  function queue(
    tree: TreeId,
    channel: Channel,
    message: { readonly key: StepKey; readonly text: string },
    repeated: boolean,
  ): void {
    const id = `${tree}/${message.key}`;
    if (sent.has(id)) return;
    sent.add(id);
    const before = tails.get(tree) ?? Promise.resolve();
    const tail = before
      .then(() => channel.deliver({ id, agent: tree, text: message.text, repeated }))
      .then(
        () => acknowledge({ tree, key: message.key }),
        // The channel did not take it: it stays in the outbox, and goes out again when a channel is attached anew.
        () => void sent.delete(id),
      )
      .then(() => {
        if (tails.get(tree) === tail) tails.delete(tree);
      });
    tails.set(tree, tail);
  }

  async function sendPending(tree: TreeId, channel: Channel): Promise<void> {
    for (const message of await store.pendingOutbox(tree)) queue(tree, channel, message, true);
  }

  return {
    async attach(tree, channel) {
      channels.set(tree, channel);
      await sendPending(tree, channel);
    },
    async recheck(tree) {
      const channel = channels.get(tree);
      if (channel !== undefined) await sendPending(tree, channel);
    },
    attached: () => channels.keys(),
    detach: (tree) => void channels.delete(tree),
    send(tree, message) {
      const channel = channels.get(tree);
      if (channel !== undefined) queue(tree, channel, message, false);
    },
    settled(keys) {
      for (const { tree, key } of keys) sent.delete(`${tree}/${key}`);
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
  };
}
