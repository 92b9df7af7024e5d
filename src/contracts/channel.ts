/**
 * The channel port: the way to a user. Delivery is at least once: a message that was not acknowledged before a crash goes out
 * again under the same id, marked `repeated`.
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
