/** A channel that collects its messages for tests. */

import type { Channel, ChannelMessage } from "../contracts/channel.ts";

/** A channel that keeps its messages for the test. */
export interface MemoryChannel extends Channel {
  readonly messages: readonly ChannelMessage[];
  /** Resolves with all messages when there are at least `count`. */
  received(count: number): Promise<readonly ChannelMessage[]>;
}

/** A channel that collects the messages of a conversation. */
export function createMemoryChannel(): MemoryChannel {
  const messages: ChannelMessage[] = [];
  let waiting: { readonly count: number; readonly resolve: (messages: readonly ChannelMessage[]) => void }[] = [];
  return {
    messages,
    async deliver(message) {
      messages.push(message);
      for (const one of waiting) if (messages.length >= one.count) one.resolve(messages);
      waiting = waiting.filter((one) => messages.length < one.count);
    },
    received(count) {
      if (messages.length >= count) return Promise.resolve(messages);
      return new Promise((resolve) => waiting.push({ count, resolve }));
    },
  };
}
