/**
 * The way out to users. A message is in the store's outbox from the commit that decided it until a channel has taken
 * it. A channel that is attached later, or after a crash, gets the messages that were not taken, under the same ids and
 * marked as repeated. channel-line.ts sends the messages of one tree.
 */

import type { OutboxKey, Store } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { Outgoing } from "../../core/tree.ts";
import type { ErrandError } from "../../errors.ts";
import {
  type Attachment,
  type ChannelLine,
  type ChannelState,
  createChannelLine,
  type LineParts,
} from "./channel-line.ts";

export interface Outbox {
  attach(attachment: Attachment): Promise<void>;
  /** Attaches it again, unless the tree has a working channel. */
  reattach(attachment: Attachment): Promise<void>;
  detach(tree: TreeId): void;
  /** Trees that have a channel here. */
  attached(): Iterable<TreeId>;
  states(): readonly ChannelState[];
  /** The tree became idle (true), or works again. */
  rest(tree: TreeId, idle: boolean): void;
  /** The conversation has ended: its channel is detached once everything is sent. */
  release(tree: TreeId): void;
  send(tree: TreeId, message: Outgoing): void;
  /** Sends messages of the tree from the store that were not sent yet. */
  readMissed(tree: TreeId): Promise<void>;
  /** Reads the messages that the store could not read before. */
  retryReads(): Promise<void>;
  /** A commit recorded that these were taken: the store's outbox holds them no more. */
  acknowledged(keys: readonly OutboxKey[]): void;
  /** Tries no message again. Resolves when no delivery runs, or after this many milliseconds. */
  close(withinMs: number): Promise<void>;
}

interface OutboxParts {
  readonly store: Store;
  readonly world: World;
  readonly acknowledge: (key: OutboxKey) => void;
  readonly onNotice: (notice: ErrandError) => void;
  readonly onFailure: (error: unknown) => void;
}

export function createOutbox(parts: OutboxParts): Outbox {
  const lines = new Map<TreeId, ChannelLine>();
  const sent = new Set<string>();
  const collected = new FinalizationRegistry<ChannelLine>((line) => {
    if (lines.get(line.tree) === line) line.end();
  });
  let closing = false;
  let sending = 0;
  let onIdle: (() => void) | null = null;
  const lineParts: LineParts = {
    ...parts,
    sent,
    closing: () => closing,
    onSending(change) {
      sending += change;
      if (sending === 0) onIdle?.();
    },
    onTakenLate: (tree, key) => lines.get(tree)?.takenElsewhere(key),
    onEnd(line) {
      if (lines.get(line.tree) === line) lines.delete(line.tree);
      collected.unregister(line);
    },
  };

  async function attach(attachment: Attachment): Promise<void> {
    const { tree } = attachment;
    const before = lines.get(tree);
    if (before?.serves(attachment) === true && before.state().state !== "blocked") return;
    before?.end();
    const line = createChannelLine(attachment, lineParts);
    lines.set(tree, line);
    collected.register(attachment, line, line);
    await line.open(before);
  }

  return {
    attach,
    async reattach(attachment) {
      const line = lines.get(attachment.tree);
      if (line === undefined || (line.state().state === "blocked" && line.serves(attachment))) await attach(attachment);
    },
    detach: (tree) => lines.get(tree)?.end(),
    attached: () => lines.keys(),
    states: () => [...lines.values()].map((line) => line.state()),
    rest: (tree, idle) => lines.get(tree)?.rest(idle),
    release: (tree) => lines.get(tree)?.release(),
    send: (tree, { key, text }) => lines.get(tree)?.send(key, text),
    readMissed: async (tree) => lines.get(tree)?.readMissed(),
    async retryReads() {
      for (const line of lines.values()) await line.retryRead().catch(parts.onFailure);
    },
    acknowledged(keys) {
      for (const { tree, key } of keys) {
        sent.delete(`${tree}/${key}`);
        lines.get(tree)?.acknowledged(key);
      }
    },
    async close(withinMs) {
      closing = true;
      for (const line of lines.values()) line.hurry();
      if (sending === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onIdle = resolve;
      const cancel = parts.world.after(withinMs, resolve);
      await promise;
      cancel();
    },
  };
}
