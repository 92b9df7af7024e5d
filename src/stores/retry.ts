/**
 * Retries while something outside this process delays a store: a lock of another program, a server that is away.
 *
 * Invariants:
 *  1. The first try is made within the call, unless `oneAtATime` forbids it.
 *  2. Listeners get one notice when a delay lasts, and one when it is over.
 */

import type { CancelTimer, World } from "../contracts/world.ts";
import { ErrandError } from "../errors.ts";

/** `over`: the store works again. */
export type DelayListener = (notice: ErrandError, over: boolean) => void;

export interface RetryOptions {
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** How long a caller waits. */
  readonly timeoutMs: number;
  /** Of all callers that wait for the same operation, one tries at a time. For tries that block the event loop. */
  readonly oneAtATime: boolean;
  /** The error to throw for what the work threw, and whether the same work may succeed later. */
  judge(thrown: unknown): { readonly error: unknown; readonly temporary: boolean };
}

export interface Retry {
  /** `operation` is the same for work that the same lock would delay. */
  run<Result>(operation: string, work: () => Result | Promise<Result>, timeoutMs?: number): Promise<Result>;
  onDelay(listener: DelayListener): void;
  close(): void;
}

/** An operation that failed and is to be tried again. */
interface Failed {
  readonly error: unknown;
  readonly pauseMs: number;
  /** When the next try may be made. */
  readonly until: number;
}

type RetryWorld = Pick<World, "monotonic" | "after">;

export function createRetry(world: RetryWorld, options: RetryOptions): Retry {
  const notices = createNotices(world);
  const failedForAll = new Map<string, Failed>();

  function failedAgain(error: unknown, earlier: Failed | undefined): Failed {
    const { firstPauseMs, longestPauseMs } = options;
    const pauseMs = earlier === undefined ? firstPauseMs : Math.min(2 * earlier.pauseMs, longestPauseMs);
    return { error, pauseMs, until: world.monotonic() + pauseMs };
  }

  return {
    async run(operation, work, timeoutMs = options.timeoutMs) {
      const failures = options.oneAtATime ? failedForAll : new Map<string, Failed>();
      const began = world.monotonic();
      for (;;) {
        let failed = failures.get(operation);
        if (failed === undefined || world.monotonic() >= failed.until) {
          try {
            const result = await work();
            failures.delete(operation);
            notices.ended(operation);
            return result;
          } catch (thrown) {
            const { error, temporary } = options.judge(thrown);
            if (!temporary) {
              notices.ended(operation);
              throw error;
            }
            notices.delayed(operation, error, timeoutMs > 0);
            failed = failedAgain(error, failures.get(operation));
            failures.set(operation, failed);
          }
        }
        if (world.monotonic() - began >= timeoutMs) throw failed.error;
        const { pauseMs } = failed;
        await new Promise<void>((resolve) => world.after(pauseMs, resolve));
      }
    },
    onDelay: notices.onDelay,
    close: notices.close,
  };
}

/** A person could not react to a shorter delay. */
const LASTING_MS = 5_000;
/**
 * Longer than any pause between two tries of a periodic duty. Work that was not tried for so long may never be tried
 * again.
 */
const FORGOTTEN_MS = 12_000;

function createNotices(world: RetryWorld) {
  /** Operations that callers wait for, with the timer until the delay lasts. */
  const waiting = new Map<string, CancelTimer>();
  /**
   * Operations of periodic duties that failed and did not succeed since. A duty may fail at one operation and then at
   * another.
   */
  let duties: { readonly since: number; last: number; readonly failed: Set<string> } | null = null;
  const listeners: DelayListener[] = [];
  let latest: ErrandError | null = null;
  let sent: { readonly notice: ErrandError; readonly since: number } | null = null;

  function sendDelay(since: number): void {
    if (latest === null || sent !== null) return;
    sent = { notice: latest, since };
    for (const listener of listeners) listener(latest, false);
  }

  function sendOver(): void {
    if (sent === null) return;
    const { notice, since } = sent;
    sent = null;
    const seconds = Math.round((world.monotonic() - since) / 1_000);
    const message = `The store works again after ${seconds} s. The work that waited continues.`;
    const over = new ErrandError(notice.code, message, { details: { over: true } });
    for (const listener of listeners) listener(over, true);
  }

  function callerWaits(operation: string): void {
    if (waiting.has(operation)) return;
    const since = world.monotonic();
    const cancel = world.after(LASTING_MS, () => sendDelay(since));
    waiting.set(operation, cancel);
  }

  function dutyFailed(operation: string): void {
    forgetDuties();
    const now = world.monotonic();
    duties ??= { since: now, last: now, failed: new Set() };
    duties.last = now;
    duties.failed.add(operation);
    if (now - duties.since >= LASTING_MS) sendDelay(duties.since);
  }

  function forgetDuties(): void {
    if (duties === null) return;
    if (duties.failed.size === 0 || world.monotonic() - duties.last > FORGOTTEN_MS) duties = null;
  }

  return {
    /** `waits`: a caller waits until the operation succeeds. Otherwise it belongs to a periodic duty. */
    delayed(operation: string, error: unknown, waits: boolean): void {
      if (!(error instanceof ErrandError)) return;
      latest = error;
      if (waits) callerWaits(operation);
      else dutyFailed(operation);
    },
    ended(operation: string): void {
      if (waiting.size === 0 && duties === null && sent === null) return;
      waiting.get(operation)?.();
      waiting.delete(operation);
      duties?.failed.delete(operation);
      forgetDuties();
      if (waiting.size === 0 && duties === null) sendOver();
    },
    onDelay: (listener: DelayListener): void => void listeners.push(listener),
    close(): void {
      for (const cancel of waiting.values()) cancel();
      waiting.clear();
      duties = null;
    },
  };
}
