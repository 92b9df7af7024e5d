/** The timers of a tree: a time for each name. Due timers are ordered by their times, then by their names. */

export type Timers = Map<string, number>;

/** The earliest time, or null. */
export function timersNext(timers: Timers): number | null {
  let next: number | null = null;
  for (const at of timers.values()) if (next === null || at < next) next = at;
  return next;
}

/** The names of all timers that are due. */
export function timersDue(timers: Timers, at: number): string[] {
  return [...timers]
    .filter(([, due]) => due <= at)
    .toSorted(([a, first], [b, second]) => first - second || (a < b ? -1 : 1))
    .map(([name]) => name);
}

/** Running time with a limit. It is paused while `since` is null. */
export interface Clock {
  used: number;
  since: number | null;
}

export function clockNew(): Clock {
  return { used: 0, since: null };
}

/** Runs the clock from `at` on, with a timer `name` at its limit. */
export function clockStart(timers: Timers, name: string, clock: Clock, at: number, limitMs: number): void {
  clock.since = at;
  timers.set(name, at + Math.max(0, limitMs - clock.used));
}

export function clockStop(timers: Timers, name: string, clock: Clock, at: number): void {
  if (clock.since !== null) clock.used += Math.max(0, at - clock.since);
  clock.since = null;
  timers.delete(name);
}
