/** Delivers one message to a channel: tries again, with pauses, until the channel takes it or it is blocked. */

import type { Channel, ChannelMessage } from "../../contracts/channel.ts";
import type { CancelTimer, World } from "../../contracts/world.ts";
import type { StepKey } from "../../core/values/ids.ts";
import { errorText } from "../../errors.ts";

export interface Message {
  readonly key: StepKey;
  readonly text: string;
  repeated: boolean;
  /** True once a channel took it, also after its try was given up. */
  taken: boolean;
}

export interface MessageDelivery {
  /** `blocked`: the last try has failed. `stopped`: it is not tried again, because `stopped()` is true. */
  readonly outcome: Promise<"taken" | "blocked" | "stopped">;
  /** Ends the pause before the next try. */
  hurry(): void;
  /** Ends the running try as failed. */
  giveUp(why: string): void;
}

interface DeliveryParts {
  readonly world: World;
  readonly channel: Channel;
  readonly message: Message;
  readonly address: Pick<ChannelMessage, "id" | "agent">;
  readonly stopped: () => boolean;
  /** The channel took the message. `late`: after its try had been given up. */
  readonly onTaken: (late: boolean) => void;
  readonly onFailed: (problem: string) => void;
}

/** Pauses between tries: short, so that a channel that works again gets its message within 5 s. */
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 4_000;
const TRY_MS = 60_000;
/** A message that was not taken within this time is not tried again. */
export const BLOCKED_AFTER_MS = 90_000;

export function startDelivery(parts: DeliveryParts): MessageDelivery {
  const { world, message, stopped, onTaken } = parts;
  let endPause: CancelTimer | null = null;
  let giveUp: ((why: string) => void) | null = null;

  async function deliver(): Promise<"taken" | "blocked" | "stopped"> {
    const began = world.monotonic();
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
      if (message.taken) return "taken";
      const problem = await tryOnce();
      if (problem === null) onTaken(false);
      if (problem === null || message.taken) return "taken";
      message.repeated = true;
      parts.onFailed(problem);
      if (world.monotonic() - began >= BLOCKED_AFTER_MS) return "blocked";
      if (!stopped()) await pause(wait);
      if (stopped()) return "stopped";
    }
  }

  /** Null if the channel took the message; else why not. */
  async function tryOnce(): Promise<string | null> {
    const { promise: givenUp, resolve } = Promise.withResolvers<string>();
    const cancel = world.after(TRY_MS, () => resolve(`it gave no answer within ${TRY_MS / 1_000} s`));
    const { text, repeated } = message;
    let over = false;
    const delivered = async (): Promise<null> => {
      await parts.channel.deliver({ ...parts.address, text, repeated });
      if (over) onTaken(true);
      return null;
    };
    giveUp = resolve;
    try {
      return await Promise.race([delivered(), givenUp]);
    } catch (error) {
      return errorText(error);
    } finally {
      over = true;
      cancel();
      giveUp = null;
    }
  }

  async function pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = world.after(milliseconds, resolve);
    endPause = () => {
      cancel();
      resolve();
    };
    await promise;
    endPause = null;
  }

  return { outcome: deliver(), hurry: () => endPause?.(), giveUp: (why) => giveUp?.(why) };
}
