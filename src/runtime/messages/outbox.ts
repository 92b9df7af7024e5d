/**
 * The way out to users. A message is in the store's outbox from the commit that decided it until a channel has taken it; a channel
 * that is attached later, or after a crash, gets what was not taken, under the same id, marked as repeated.
 *
 * Invariants:
 *  1. Messages of a tree go out one after the other. A message that was not taken is tried again; later ones wait behind it.
 *  2. After the last try the channel is blocked: nothing goes out until a channel is attached again. All messages stay in the store.
 *  3. While the store cannot be read, a channel that is owed messages from it gets nothing: later messages wait too.
 *  4. An attachment is held strongly until its conversation has worked and rests again. From then on only the agent that the user
 *     holds keeps it, until there is work or a message.
 */

import type { Channel } from "../../contracts/channel.ts";
import type { OutboxKey, Store } from "../../contracts/store.ts";
import type { CancelTimer, World } from "../../contracts/world.ts";
import type { StepKey, TreeId } from "../../core/values/ids.ts";
import type { Outgoing } from "../../core/tree.ts";
import { errorText, ErrandError, passesByItself } from "../../errors.ts";

/** A channel that was given for a tree. The agent of the user holds it too. */
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

export interface Outbox {
  attach(attachment: Attachment): Promise<void>;
  detach(tree: TreeId): void;
  /** True if the tree has no channel, or this one is blocked. */
  reattaches(attachment: Attachment): boolean;
  /** Trees that have a channel here. */
  attached(): Iterable<TreeId>;
  states(): readonly ChannelState[];
  /** The tree has nothing to do (true), or has again. */
  rest(tree: TreeId, atRest: boolean): void;
  /** The conversation has ended: its channel goes once all is sent. */
  release(tree: TreeId): void;
  send(tree: TreeId, message: Outgoing): void;
  /** Sends messages of the tree from the store that were not sent yet. */
  readMissed(tree: TreeId): Promise<void>;
  /** Reads the messages that the store could not give before. */
  retryReads(): Promise<void>;
  /** A commit recorded that these were taken: the store's outbox holds them no more. */
  acknowledged(keys: readonly OutboxKey[]): void;
  /** Makes no more retries. Resolves when no delivery is under way, or after so many milliseconds. */
  close(withinMs: number): Promise<void>;
}

interface OutboxParts {
  readonly store: Store;
  readonly world: World;
  readonly acknowledge: (key: OutboxKey) => void;
  readonly onNotice: (notice: ErrandError) => void;
  readonly onFailure: (error: unknown) => void;
}

interface Message {
  readonly key: StepKey;
  readonly text: string;
  repeated: boolean;
  /** True once a channel took it, also after its try was given up. */
  taken: boolean;
}

/** What goes to one attachment. Another attachment of the same tree has a line of its own. */
interface Line {
  readonly tree: TreeId;
  readonly weak: WeakRef<Attachment>;
  /** Null while the tree is at rest. */
  strong: Attachment | null;
  /** True once the tree had work since the channel was attached. */
  worked: boolean;
  atRest: boolean;
  /** The conversation is closed: nothing follows what is queued. */
  ended: boolean;
  queue: Message[];
  sending: boolean;
  blocked: boolean;
  /**
   * Why nothing new goes out: the channel that was attached before has a delivery under way, the store is being read for older messages, or it
   * could not be read. Null if nothing holds it.
   */
  held: "replacing" | "reading" | "unread" | null;
  /** What came while it was held. */
  fresh: Message[];
  /** What was recorded as taken while the store was read: the read may still show it. */
  readonly settled: Set<StepKey>;
  /** True if the store must be read once more. */
  again: boolean;
  /** False once the channel was detached, or another took its place. */
  current: boolean;
  error: string | null;
  /** Ends the wait before the next try. */
  cancel: CancelTimer | null;
  /** Ends the try under way, as a failed one. */
  giveUp: ((why: string) => void) | null;
  /** Called when nothing of it is under way any more. */
  onIdle: (() => void) | null;
}

/** Waits between the tries of one message: short, so that a channel that works again has it within 5 s. */
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 4_000;
/** A message that was not taken for so long is not tried again. */
const BLOCKED_AFTER_MS = 90_000;
const TRY_MS = 60_000;
/** How long a delivery under way keeps the channel waiting that takes its place. */
const REPLACED_MS = 5_000;

export function createOutbox({ store, world, acknowledge, onNotice, onFailure }: OutboxParts): Outbox {
  const lines = new Map<TreeId, Line>();
  /** Messages that are on their way to a channel, or were taken by one without that being on record yet. */
  const sent = new Set<string>();
  const collected = new FinalizationRegistry<Line>((line) => {
    if (lines.get(line.tree) === line) end(line);
  });
  let closing = false;
  let sending = 0;
  let idlers: (() => void)[] = [];

  function queue(line: Line, key: StepKey, text: string, repeated: boolean): void {
    const id = `${line.tree}/${key}`;
    if (line.blocked || sent.has(id)) return;
    if (line.held !== null) return void line.fresh.push({ key, text, repeated, taken: false });
    line.strong ??= line.weak.deref() ?? null;
    if (line.strong === null) return end(line);
    sent.add(id);
    line.queue.push({ key, text, repeated, taken: false });
    if (!line.sending) void pump(line);
  }

  async function pump(line: Line): Promise<void> {
    line.sending = true;
    sending += 1;
    for (let message = line.queue[0]; message !== undefined && line.current; message = line.queue[0]) {
      if (await sendOne(line, message)) line.queue.shift();
      else break;
    }
    line.sending = false;
    sending -= 1;
    leave(line);
    if (line.atRest) line.strong = null;
    endIfDone(line);
    line.onIdle?.();
    if (sending === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  /** What the line did not send is sent by the next one, from the store. */
  function leave(line: Line): void {
    for (const { key } of line.queue.splice(0)) sent.delete(`${line.tree}/${key}`);
  }

  /** Resolves with true once the channel took it; with false if the line ends here. */
  async function sendOne(line: Line, message: Message): Promise<boolean> {
    const began = world.monotonic();
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
      if (message.taken) return true;
      const error = await tryOnce(line, message);
      if (error === null) taken(line, message);
      if (error === null || message.taken) return true;
      line.error = error;
      message.repeated = true;
      const late = world.monotonic() - began >= BLOCKED_AFTER_MS;
      if (late) block(line, error);
      if (late || closing || !line.current) return false;
      await pause(line, wait);
      if (closing || !line.current) return false;
    }
  }

  function taken(line: Line, message: Message): void {
    if (message.taken) return;
    message.taken = true;
    line.error = null;
    acknowledge({ tree: line.tree, key: message.key });
  }

  /** A slow channel took the message after its try was given up: it does not go out again, and the channel works. */
  function takenLate(line: Line, message: Message): void {
    taken(line, message);
    sent.add(`${line.tree}/${message.key}`);
    line.cancel?.();
    // The channel that took the place of this one may be about to send it too.
    const now = lines.get(line.tree);
    const again = now?.queue.find(({ key }) => key === message.key);
    if (again !== undefined) again.taken = true;
    now?.cancel?.();
    if (!line.blocked || !line.current) return;
    line.blocked = false;
    sendPending(line).catch(onFailure);
  }

  function block(line: Line, error: string): void {
    line.blocked = true;
    if (!line.current) return;
    onNotice(
      new ErrandError(
        "channel-blocked",
        `The channel of ${line.tree} has not taken a message for ${BLOCKED_AFTER_MS / 1_000} s: ${error}`,
        {
          remedy:
            "Repair the channel and attach it again, with errand.agent(id, { channel }). The messages are kept, and go out in order.",
          details: { tree: line.tree },
        },
      ),
    );
  }

  function pause(line: Line, milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = world.after(milliseconds, resolve);
    line.cancel = () => {
      cancel();
      resolve();
    };
    return promise.finally(() => {
      line.cancel = null;
    });
  }

  /** Null if the channel took it; else why not. */
  async function tryOnce(line: Line, message: Message): Promise<string | null> {
    const { tree, strong } = line;
    const { key, text, repeated } = message;
    let over = false;
    if (strong === null) return "the channel is gone";
    const { promise: late, resolve } = Promise.withResolvers<string>();
    line.giveUp = resolve;
    const cancel = world.after(TRY_MS, () => resolve(`it gave no answer within ${TRY_MS / 1_000} s`));
    try {
      const delivered = async (): Promise<null> => {
        await strong.channel.deliver({ id: `${tree}/${key}`, agent: tree, text, repeated });
        if (over) takenLate(line, message);
        return null;
      };
      return await Promise.race([delivered(), late]);
    } catch (error) {
      return errorText(error);
    } finally {
      over = true;
      cancel();
      line.giveUp = null;
    }
  }

  function endIfDone(line: Line): void {
    if (line.ended && !line.sending && !line.blocked && line.held === null) end(line);
  }

  /** A line that waits for the channel before it reads the store after that. */
  async function sendPending(line: Line): Promise<void> {
    if (line.held === "reading") line.again = true;
    else if (line.held !== "replacing") await read(line);
  }

  async function read(line: Line): Promise<void> {
    line.held = "reading";
    let pending: Awaited<ReturnType<Store["pendingOutbox"]>>;
    try {
      do {
        line.again = false;
        line.settled.clear();
        pending = await store.pendingOutbox(line.tree);
      } while (line.again);
    } catch (error) {
      line.held = "unread";
      if (passesByItself(error)) return;
      // Its messages stay in the store, for a channel that is attached later.
      end(line);
      throw error;
    }
    line.held = null;
    const fresh = line.fresh.splice(0);
    const came = new Set(fresh.map(({ key }) => key));
    const owed = pending.filter(({ key }) => !line.settled.has(key));
    for (const { key, text } of owed) if (line.current) queue(line, key, text, !came.has(key));
    for (const { key, text } of fresh) if (line.current) queue(line, key, text, false);
    endIfDone(line);
  }

  function end(line: Line): void {
    line.current = false;
    if (lines.get(line.tree) === line) lines.delete(line.tree);
    collected.unregister(line);
    line.cancel?.();
    // A delivery that is under way keeps its place: what follows waits for it.
    const waiting = line.sending ? line.queue.splice(1) : line.queue.splice(0);
    for (const { key } of waiting) sent.delete(`${line.tree}/${key}`);
  }

  /** A message that is on its way to the channel before goes out first, or comes to this one. */
  function waitFor(before: Line, line: Line): void {
    line.held = "replacing";
    const cancel = world.after(REPLACED_MS, () => before.giveUp?.("another channel was attached"));
    before.onIdle = () => {
      cancel();
      if (line.current) read(line).catch(onFailure);
    };
  }

  function state({ tree, blocked, error, sending: busy }: Line): ChannelState {
    return { tree, state: blocked ? "blocked" : !busy ? "idle" : error === null ? "sending" : "retrying", error };
  }

  return {
    async attach(attachment) {
      const { tree } = attachment;
      const before = lines.get(tree);
      if (before !== undefined && before.weak.deref() === attachment && !before.blocked) return;
      if (before !== undefined) end(before);
      const line: Line = {
        tree,
        weak: new WeakRef(attachment),
        strong: attachment,
        worked: false,
        atRest: false,
        ended: false,
        queue: [],
        sending: false,
        blocked: false,
        held: null,
        fresh: [],
        settled: new Set(),
        again: false,
        current: true,
        error: null,
        cancel: null,
        giveUp: null,
        onIdle: null,
      };
      lines.set(tree, line);
      collected.register(attachment, line, line);
      if (before?.sending === true) waitFor(before, line);
      else await sendPending(line);
    },
    reattaches(attachment) {
      const line = lines.get(attachment.tree);
      return line === undefined || (line.blocked && line.weak.deref() === attachment);
    },
    detach(tree) {
      const line = lines.get(tree);
      if (line !== undefined) end(line);
    },
    async readMissed(tree) {
      const line = lines.get(tree);
      if (line !== undefined) await sendPending(line);
    },
    async retryReads() {
      for (const line of lines.values()) if (line.held === "unread") await read(line).catch(onFailure);
    },
    attached: () => lines.keys(),
    states: () => [...lines.values()].map(state),
    rest(tree, atRest) {
      const line = lines.get(tree);
      if (line === undefined) return;
      if (!atRest) line.worked = true;
      if (line.atRest === atRest || !line.worked) return;
      line.atRest = atRest;
      if (!atRest) line.strong = line.weak.deref() ?? null;
      else if (!line.sending) line.strong = null;
    },
    release(tree) {
      const line = lines.get(tree);
      if (line === undefined) return;
      line.ended = true;
      endIfDone(line);
    },
    send(tree, { key, text }) {
      const line = lines.get(tree);
      if (line === undefined) return;
      line.worked = true;
      queue(line, key, text, false);
    },
    acknowledged(keys) {
      for (const { tree, key } of keys) {
        sent.delete(`${tree}/${key}`);
        const line = lines.get(tree);
        if (line?.held === "reading") line.settled.add(key);
      }
    },
    async close(withinMs) {
      closing = true;
      for (const line of lines.values()) line.cancel?.();
      if (sending === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      idlers = [...idlers, resolve];
      const cancel = world.after(withinMs, resolve);
      await promise;
      cancel();
    },
  };
}
