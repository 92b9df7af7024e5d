/**
 * The channel port: the way to a user. Delivery is at least once: a message that was not acknowledged before a crash is
 * sent again under the same id, marked `repeated`.
 *
 * A delivery that fails, or takes longer than 60 s, is tried again after 1 s, 2 s, and then every 4 s. Later messages
 * of the conversation wait for it. After 90 s the channel is blocked (`channel-blocked`) until it is attached again.
 */

export interface ChannelMessage {
  /** Stable across repetitions: tree and step key. */
  readonly id: string;
  /** The agent that speaks: its id. */
  readonly agent: string;
  readonly text: string;
  readonly repeated: boolean;
}

/** The way to a user: gets the messages of a conversation. */
export interface Channel {
  /** Resolves once the message is where the user will see it: the message is acknowledged. */
  deliver(message: ChannelMessage): Promise<void>;
}
