/**
 * A periodic duty of a process: looking for mail, waking trees, renewing its lease.
 *
 * Invariants:
 *  1. Every try is followed by another one: after a success, a failure and a timeout. Only `stop` ends that.
 *  2. Two tries overlap only if the first one exceeded its time limit.
 *  3. After a failure the pause grows from `FIRST_PAUSE_MS` to `LONGEST_PAUSE_MS`, so that work continues soon after
 *     the cause is gone.
 *  4. A permanent failure is reported at once, a temporary one once it lasts. Each is reported once, and so is the
 *     recovery.
 */

/** The part of a World that a duty needs. */
interface DutyTime {
  monotonic(): number;
  after(milliseconds: number, callback: () => void): () => void;
}

export interface DutyParts {
  readonly time: DutyTime;
  /** One try. Resolves with the milliseconds until the next one, or with null if only `now` starts it. */
  readonly work: () => Promise<number | null>;
  /** The time limit of a try. */
  readonly tryWithinMs?: number;
  /** A failure that is older than this is reported as lasting. */
  readonly lastingMs?: number;
  /** True for a temporary error, such as a server that cannot be reached. */
  readonly passes: (error: unknown) => boolean;
  readonly onFailing: (error: unknown, lateMs: number) => void;
  readonly onRecovered: (lateMs: number) => void;
}

export interface Duty {
  /** Tries now, or again after the running try. Resolves when a try has ended, with or without success. */
  now(): Promise<void>;
  /** Tries after this many milliseconds, unless a try is set for an earlier time. */
  later(milliseconds: number): void;
  /** The time since the first failing try after the last success; 0 without a failure. */
  lateMs(): number;
  /** Resolves when no try is running. */
  stop(): Promise<void>;
}

const TRY_WITHIN_MS = 30_000;
const LASTING_MS = 10_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** A try exceeded its time limit. */
export class DutyTimeout extends Error {
  constructor(milliseconds: number) {
    super(`it did not end within ${milliseconds / 1_000} s`);
    this.name = "DutyTimeout";
  }
}

export function createDuty(parts: DutyParts): Duty {
  const { time, tryWithinMs = TRY_WITHIN_MS, lastingMs = LASTING_MS } = parts;
  let stopped = false;
  let armed: { readonly at: number; readonly cancel: () => void } | null = null;
  let trying: Promise<void> | null = null;
  let again = false;
  /** When the first failing try after the last success began. */
  let since: number | null = null;
  let failures = 0;
  const reported = new Set<"lasting" | "failure">();

  function arm(milliseconds: number): void {
    if (stopped) return;
    const at = time.monotonic() + milliseconds;
    if (armed !== null && armed.at <= at) return;
    armed?.cancel();
    const cancel = time.after(milliseconds, () => {
      armed = null;
      void begin();
    });
    armed = { at, cancel };
  }

  function begin(): Promise<void> {
    armed?.cancel();
    armed = null;
    again = false;
    since ??= time.monotonic();
    trying = tryAndArm();
    return trying;
  }

  async function tryAndArm(): Promise<void> {
    const next = await tryOnce();
    trying = null;
    if (again) arm(failures === 0 ? 0 : pause());
    else if (next !== null) arm(next);
  }

  /** Never rejects. Resolves with the milliseconds until the next try. */
  async function tryOnce(): Promise<number | null> {
    const { promise: over, reject } = Promise.withResolvers<never>();
    const cancel = time.after(tryWithinMs, () => reject(new DutyTimeout(tryWithinMs)));
    try {
      const next = await Promise.race([parts.work(), over]);
      succeeded();
      return next;
    } catch (error) {
      failed(error);
      return pause();
    } finally {
      cancel();
    }
  }

  function pause(): number {
    return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10), LONGEST_PAUSE_MS);
  }

  function succeeded(): void {
    const late = lateMs();
    since = null;
    failures = 0;
    if (reported.size === 0) return;
    reported.clear();
    parts.onRecovered(late);
  }

  function failed(error: unknown): void {
    failures += 1;
    if (stopped) return;
    const kind = error instanceof DutyTimeout || parts.passes(error) ? "lasting" : "failure";
    if (reported.has(kind) || (kind === "lasting" && lateMs() < lastingMs)) return;
    reported.add(kind);
    parts.onFailing(error, lateMs());
  }

  function lateMs(): number {
    return since === null ? 0 : time.monotonic() - since;
  }

  return {
    now() {
      if (stopped) return Promise.resolve();
      if (trying === null) return begin();
      again = true;
      return trying;
    },
    later(milliseconds) {
      if (trying === null) arm(milliseconds);
    },
    lateMs,
    async stop() {
      stopped = true;
      armed?.cancel();
      armed = null;
      await trying;
    },
  };
}
