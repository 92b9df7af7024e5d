/**
 * The channel port: the way to a user. Delivery is at least once: a message that was not acknowledged before a crash goes out
 * again under the same id, marked `repeated`.
 *
 * A delivery that fails, or gives no answer within 60 s, is tried again after 1 s, 2 s, and then every 4 s; later messages of the
 * conversation wait behind it. When a message was not taken for 90 s the channel is blocked (`channel-blocked`), until it is attached again.
 */

export interface ChannelMessage {
  /** Stable across repetitions: tree and step key. */
  readonly id: string;
  /** The agent that speaks: its id. */
  readonly agent: string;
  readonly text: string;
  readonly repeated: boolean;
}

export interface Channel {
  /** Resolves once the message is where the user will see it; that acknowledges it. */
  deliver(message: ChannelMessage): Promise<void>;
}
