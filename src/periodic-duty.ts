/**
 * A duty that a process does again and again: looking for mail, waking trees, telling others that it lives.
 *
 * Invariants:
 *  1. After every try another is armed, whatever came of it: it was done, it threw, or its time was over. Only `stop`
 *     ends that.
 *  2. Two tries overlap only if the first was given up because its time was over.
 *  3. After a failure the pause grows from `FIRST_PAUSE_MS` to `LONGEST_PAUSE_MS`: work goes on soon after the cause is
 *     gone.
 *  4. A failure that does not pass by itself is told at once, any other once it lasts; each is told once, and so is the
 *     recovery.
 */

/** The part of a World that a duty needs. */
interface DutyTime {
  monotonic(): number;
  after(milliseconds: number, callback: () => void): () => void;
}

export interface DutyParts {
  readonly time: DutyTime;
  /** One try. Resolves with the milliseconds until the next one, or with null if that one is asked for by `now`. */
  readonly work: () => Promise<number | null>;
  /** A try that takes longer is given up. */
  readonly tryWithinMs?: number;
  /** A failure that is older than this lasts. */
  readonly lastingMs?: number;
  /** True for an error that passes by itself, such as a server that cannot be reached. */
  readonly passes: (error: unknown) => boolean;
  readonly onFailing: (error: unknown, lateMs: number) => void;
  readonly onRecovered: (lateMs: number) => void;
}

export interface Duty {
  /** Tries now, or once more when the try under way has ended. Resolves when a try has ended, however. */
  now(): Promise<void>;
  /** Tries after so many milliseconds, unless a try is armed for an earlier time. */
  later(milliseconds: number): void;
  /** How long ago the first try began that no success followed; 0 if there is none. */
  lateMs(): number;
  /** Resolves when no try is under way any more. */
  stop(): Promise<void>;
}

const TRY_WITHIN_MS = 30_000;
const LASTING_MS = 10_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** A try of a duty whose time was over. */
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
  /** When the first try began that no success followed. */
  let since: number | null = null;
  let failures = 0;
  const told = new Set<"lasting" | "failure">();

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
    if (told.size === 0) return;
    told.clear();
    parts.onRecovered(late);
  }

  function failed(error: unknown): void {
    failures += 1;
    if (stopped) return;
    const kind = error instanceof DutyTimeout || parts.passes(error) ? "lasting" : "failure";
    if (told.has(kind) || (kind === "lasting" && lateMs() < lastingMs)) return;
    told.add(kind);
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
