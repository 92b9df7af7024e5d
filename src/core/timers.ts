/**
 * The timers of a tree: named moments, the earliest first. A heap with lazy deletion, so that setting, clearing and looking at the
 * next one do not grow with the number of timers.
 *
 * Invariants:
 *  1. A name has at most one moment; setting it again replaces it.
 *  2. What is due comes in the order of its moment, then of its name: the same on every machine.
 */

interface Entry {
  readonly name: string;
  readonly at: number;
}

export interface Timers {
  readonly moments: Map<string, number>;
  readonly heap: Entry[];
}

export function timersEmpty(): Timers {
  return { moments: new Map(), heap: [] };
}

export function timersFrom(moments: Iterable<readonly [string, number]>): Timers {
  const timers = timersEmpty();
  for (const [name, at] of moments) timerSet(timers, name, at);
  return timers;
}

export function timerSet(timers: Timers, name: string, at: number): void {
  timers.moments.set(name, at);
  push(timers.heap, { name, at });
}

export function timerClear(timers: Timers, name: string): void {
  timers.moments.delete(name);
}

/** The earliest moment, or null. */
export function timersNext(timers: Timers): number | null {
  return live(timers)?.at ?? null;
}

/** Names every timer whose moment has come. */
export function timersDue(timers: Timers, at: number): string[] {
  const due: Entry[] = [];
  for (const [name, moment] of timers.moments) if (moment <= at) due.push({ name, at: moment });
  return due.toSorted((a, b) => (before(a, b) ? -1 : 1)).map((entry) => entry.name);
}

/** Removes every timer whose moment has come. */
export function timersDropDue(timers: Timers, at: number): void {
  for (let entry = live(timers); entry !== undefined && entry.at <= at; entry = live(timers)) {
    pop(timers.heap);
    timers.moments.delete(entry.name);
  }
}

/** The first entry that still stands, after dropping those that were cleared or replaced. */
function live(timers: Timers): Entry | undefined {
  for (;;) {
    const first = timers.heap[0];
    if (first === undefined || timers.moments.get(first.name) === first.at) return first;
    pop(timers.heap);
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.name < b.name);
}

function push(heap: Entry[], entry: Entry): void {
  let index = heap.length;
  heap.push(entry);
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex];
    if (parent === undefined || !before(entry, parent)) break;
    heap[index] = parent;
    index = parentIndex;
  }
  heap[index] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = index * 2 + 1;
    const leftEntry = heap[left];
    if (leftEntry === undefined) break;
    const rightEntry = heap[left + 1];
    const child = rightEntry !== undefined && before(rightEntry, leftEntry) ? left + 1 : left;
    const childEntry = child === left ? leftEntry : rightEntry;
    if (childEntry === undefined || !before(childEntry, last)) break;
    heap[index] = childEntry;
    index = child;
  }
  heap[index] = last;
}
