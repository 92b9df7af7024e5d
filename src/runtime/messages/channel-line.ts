/**
 * The messages of one tree on their way to one attached channel. Another attachment of the same tree has a line of its
 * own, which waits for the running delivery.
 *
 * Invariants:
 *  1. Messages go out one after the other. A message that was not taken is tried again, and later ones wait for it.
 *  2. After the last try the line is blocked: it sends nothing until a channel is attached again.
 *  3. While the store cannot be read, the line sends nothing, because older messages may be there.
 *  4. The attachment is held strongly until its conversation has worked and is idle again. From then on only the agent
 *     that the user holds keeps it, until there is work or a message.
 */

import type { Channel } from "../../contracts/channel.ts";
import type { OutboxKey, Store } from "../../contracts/store.ts";
import type { OutboxMessage } from "../../contracts/store-messages.ts";
import type { World } from "../../contracts/world.ts";
import type { StepKey, TreeId } from "../../core/values/ids.ts";
import { ErrandError, passesByItself } from "../../errors.ts";
import { BLOCKED_AFTER_MS, type Message, type MessageDelivery, startDelivery } from "./message-delivery.ts";

/** A channel that was attached to a tree. The user's agent holds it too. */
export interface Attachment {
  readonly tree: TreeId;
  readonly channel: Channel;
}

/** A channel that is attached here, for people. */
export interface ChannelState {
  readonly tree: string;
  /** `retrying`: a message was not taken, and is tried again. `blocked`: it was tried for the last time. */
  readonly state: "idle" | "sending" | "retrying" | "blocked";
  /** Why the last try failed; null if it did not. */
  readonly error: string | null;
}

/** What the lines of all trees share. */
export interface LineParts {
  readonly store: Store;
  readonly world: World;
  /** Ids of messages that are being delivered, or were taken and not recorded as taken yet. */
  readonly sent: Set<string>;
  /** True while the outbox closes: no delivery is tried again. */
  readonly closing: () => boolean;
  readonly acknowledge: (key: OutboxKey) => void;
  /** A delivery began (1) or ended (-1). */
  readonly onSending: (change: 1 | -1) => void;
  /** The channel took a message after its try had been given up. */
  readonly onTakenLate: (tree: TreeId, key: StepKey) => void;
  readonly onEnd: (line: ChannelLine) => void;
  readonly onNotice: (notice: ErrandError) => void;
  readonly onFailure: (error: unknown) => void;
}

export interface ChannelLine {
  readonly tree: TreeId;
  state(): ChannelState;
  /** True while a delivery runs. */
  sending(): boolean;
  /** True if it was made for this attachment. */
  serves(attachment: Attachment): boolean;
  /** Sends what the store holds, after the line before it has ended its delivery. */
  open(before: ChannelLine | undefined): Promise<void>;
  send(key: StepKey, text: string): void;
  /** Sends messages from the store that were not sent yet. */
  readMissed(): Promise<void>;
  /** Reads the store again, if it could not be read before. */
  retryRead(): Promise<void>;
  /** It is recorded that a channel took this message. */
  acknowledged(key: StepKey): void;
  /** Another line's channel took this message: it is not tried again. */
  takenElsewhere(key: StepKey): void;
  /** The tree became idle (true), or works again. */
  rest(idle: boolean): void;
  /** The conversation has ended: the line ends once everything is sent. */
  release(): void;
  /** Ends the wait before the next try. */
  hurry(): void;
  /** Ends the running try as failed. */
  giveUp(why: string): void;
  /** Calls back when the running delivery has ended. */
  whenIdle(callback: () => void): void;
  end(): void;
}

/** How long a line waits for the delivery of the line before it. */
const REPLACED_MS = 5_000;

export function createChannelLine(attachment: Attachment, parts: LineParts): ChannelLine {
  const { store, world, sent, onFailure } = parts;
  const { tree } = attachment;
  const weak = new WeakRef(attachment);
  let strong: Attachment | null = attachment;
  const queue: Message[] = [];
  /** True once the tree had work since the channel was attached. */
  let worked = false;
  let idle = false;
  let released = false;
  let sending = false;
  let blocked = false;
  /** False once the channel was detached, or another took its place. */
  let current = true;
  let error: string | null = null;
  /** Why nothing new goes out: the line before delivers, the store is being read, or it could not be read. */
  let held: "replacing" | "reading" | "unread" | null = null;
  /** Messages that came while it was held. */
  const waiting: Message[] = [];
  /** Messages that were recorded as taken while the store was read: the read may still show them. */
  const acknowledged = new Set<StepKey>();
  let readAgain = false;
  let delivery: MessageDelivery | null = null;
  let onIdle: (() => void) | null = null;

  const idOf = (key: StepKey): string => `${tree}/${key}`;

  function add(key: StepKey, text: string, repeated: boolean): void {
    if (blocked || sent.has(idOf(key))) return;
    const message = { key, text, repeated, taken: false };
    if (held !== null) return void waiting.push(message);
    strong ??= weak.deref() ?? null;
    if (strong === null) return end();
    sent.add(idOf(key));
    queue.push(message);
    if (!sending) void sendAll(strong.channel);
  }

  async function sendAll(channel: Channel): Promise<void> {
    sending = true;
    parts.onSending(1);
    for (let message = queue[0]; message !== undefined && current; message = queue[0]) {
      const one = message;
      delivery = startDelivery({
        world,
        channel,
        message: one,
        address: { id: idOf(one.key), agent: tree },
        stopped: () => parts.closing() || !current,
        onTaken: (late) => taken(one, late),
        onFailed: (problem) => (error = problem),
      });
      const outcome = await delivery.outcome;
      if (outcome === "blocked") block();
      if (outcome !== "taken") break;
      queue.shift();
    }
    delivery = null;
    sending = false;
    // The next line sends the remaining messages, from the store.
    forget(queue.splice(0));
    if (idle) strong = null;
    endIfDone();
    onIdle?.();
    parts.onSending(-1);
  }

  function forget(messages: readonly Message[]): void {
    for (const { key } of messages) sent.delete(idOf(key));
  }

  /** `late`: a slow channel took it after its try was given up. It is not sent again, and the channel works. */
  function taken(message: Message, late: boolean): void {
    const { key } = message;
    if (!message.taken) {
      message.taken = true;
      error = null;
      parts.acknowledge({ tree, key });
    }
    if (!late) return;
    sent.add(idOf(key));
    delivery?.hurry();
    // The line that replaced this one may be about to send it too.
    parts.onTakenLate(tree, key);
    if (!blocked || !current) return;
    blocked = false;
    readMissed().catch(onFailure);
  }

  function block(): void {
    blocked = true;
    if (current) parts.onNotice(channelBlocked(tree, error ?? ""));
  }

  function endIfDone(): void {
    if (released && !sending && !blocked && held === null) end();
  }

  async function readMissed(): Promise<void> {
    if (held === "reading") readAgain = true;
    // A line that waits for the one before it reads the store after that.
    else if (held !== "replacing") await read();
  }

  async function read(): Promise<void> {
    held = "reading";
    let pending: readonly OutboxMessage[];
    try {
      do {
        readAgain = false;
        acknowledged.clear();
        pending = await store.pendingOutbox(tree);
      } while (readAgain);
    } catch (cause) {
      held = "unread";
      if (passesByItself(cause)) return;
      // Its messages stay in the store, for a channel that is attached later.
      end();
      throw cause;
    }
    held = null;
    const fresh = waiting.splice(0);
    const came = new Set(fresh.map(({ key }) => key));
    const owed = pending.filter(({ key }) => !acknowledged.has(key));
    for (const { key, text } of owed) if (current) add(key, text, !came.has(key));
    for (const { key, text } of fresh) if (current) add(key, text, false);
    endIfDone();
  }

  function end(): void {
    current = false;
    parts.onEnd(line);
    delivery?.hurry();
    // A running delivery keeps its place: later messages wait for it.
    forget(queue.splice(sending ? 1 : 0));
  }

  const line: ChannelLine = {
    tree,
    state: () => ({
      tree,
      state: blocked ? "blocked" : !sending ? "idle" : error === null ? "sending" : "retrying",
      error,
    }),
    sending: () => sending,
    serves: (other) => weak.deref() === other,
    async open(before) {
      if (before?.sending() !== true) return readMissed();
      held = "replacing";
      const cancel = world.after(REPLACED_MS, () => before.giveUp("another channel was attached"));
      before.whenIdle(() => {
        cancel();
        if (current) read().catch(onFailure);
      });
    },
    send(key, text) {
      worked = true;
      add(key, text, false);
    },
    readMissed,
    retryRead: async () => (held === "unread" ? read() : undefined),
    acknowledged(key) {
      if (held === "reading") acknowledged.add(key);
    },
    takenElsewhere(key) {
      const message = queue.find((one) => one.key === key);
      if (message !== undefined) message.taken = true;
      delivery?.hurry();
    },
    rest(resting) {
      if (!resting) worked = true;
      if (idle === resting || !worked) return;
      idle = resting;
      if (!idle) strong = weak.deref() ?? null;
      else if (!sending) strong = null;
    },
    release() {
      released = true;
      endIfDone();
    },
    hurry: () => delivery?.hurry(),
    giveUp: (why) => delivery?.giveUp(why),
    whenIdle(callback) {
      onIdle = callback;
    },
    end,
  };
  return line;
}

function channelBlocked(tree: TreeId, problem: string): ErrandError {
  const message = `The channel of ${tree} has not taken a message for ${BLOCKED_AFTER_MS / 1_000} s: ${problem}`;
  return new ErrandError("channel-blocked", message, {
    remedy:
      "Repair the channel and attach it again, with errand.agent(id, { channel }). " +
      "The messages are kept, and go out in order.",
    details: { tree },
  });
}
