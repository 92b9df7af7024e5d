/** The checkers of troubles fail for a broken store, a missed duty and a skipped listener. */

import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { Store } from "../../src/index.ts";
import { checkPlainRow, plainText } from "./invariants/plain-values.ts";
import { checkOverdue, checkRate, createProgress, PROGRESS_MS } from "./invariants/progress.ts";
import { violated } from "./invariants/violation.ts";
import type { WatchedRun, WatchedTree } from "./invariants/watched-tree.ts";
import { type Disk, memoryDisk } from "./place.ts";
import { createRandom } from "./random.ts";
import { createSimulatedWorld } from "./simulated-world.ts";
import { simulate } from "./simulation.ts";
import { smallRows, smallSteps, watchRows } from "./small-journal.ts";
import { createDuties } from "./troubles/duties.ts";
import { checkHeard } from "./troubles/listeners.ts";
import { createLocks } from "./troubles/locks.ts";
import { drawTroubles, TROUBLES } from "./troubles/troubles.ts";
import { watchUnhandled } from "./troubles/unhandled.ts";

test("others: the checker finds work that is owed for too long while nothing is wrong", () => {
  const look = (to: number, calmSince: number | null, done = false): string => {
    const progress = createProgress();
    progress.owe({ invariant: "others", what: "a row", since: 100, done: () => done });
    return violated(() => progress.look(to, calmSince));
  };
  expect(look(101 + PROGRESS_MS, 0)).toBe("others");
  expect(look(100 + PROGRESS_MS, 0)).toBe("nothing");
  expect(look(101 + PROGRESS_MS, 0, true)).toBe("nothing");
  expect(look(101 + PROGRESS_MS, null)).toBe("nothing");
  expect(look(101 + PROGRESS_MS, 5_000)).toBe("nothing");
  expect(look(90_000, 5_000)).toBe("others");
});

test("duties: the checker finds a run that continues after its deadline", () => {
  const overdue = (run: Partial<WatchedRun>, to: number, excuse = 0): string => {
    const tree: WatchedTree = watchRows(smallRows(smallSteps()));
    const known = tree.runs.get(1);
    if (known === undefined) throw new Error("the small journal has no run");
    const own = {
      state: "running",
      startedNow: 1_000,
      timeoutMs: 5_000,
      parkedMs: 0,
      parkedNow: null,
      ...run,
    } as const;
    tree.runs.set(1, { ...known, ...own });
    return violated(() => checkOverdue(tree, to, excuse));
  };
  const due = 6_000 + PROGRESS_MS;
  expect(overdue({}, due + 1)).toBe("duties");
  expect(overdue({}, due)).toBe("nothing");
  expect(overdue({}, due + 1, 7_000)).toBe("nothing");
  expect(overdue({ parkedNow: 2_000 }, due + 1)).toBe("nothing");
  expect(overdue({ parkedMs: 10 }, due + 1)).toBe("nothing");
  expect(overdue({ state: "ended" }, due + 1)).toBe("nothing");
});

test("rate: the checker finds a busy loop of calls to a store that refuses", () => {
  expect(violated(() => checkRate(40, 0))).toBe("nothing");
  expect(violated(() => checkRate(80, 10_000))).toBe("nothing");
  expect(violated(() => checkRate(81, 10_000))).toBe("rate");
});

test("plain: the checker finds numbers that a store cannot hold, and requests that are not JSON", () => {
  const row = (head: object): string => violated(() => checkPlainRow({ seq: 1, head: JSON.stringify(head) }));
  expect(row({ usage: { input: 10, output: 0 } })).toBe("nothing");
  for (const odd of [10.3, 1e19, -5, Number.NaN, "12"]) expect(row({ usage: { input: odd, output: 1 } })).toBe("plain");
  expect(row({ retryAfterMs: 0.1 })).toBe("plain");
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  expect(violated(() => plainText([cycle]))).toBe("plain");
  expect(violated(() => plainText([{ input: 5n }]))).toBe("plain");
  expect(plainText([1])).toBe("[1]");
});

test("listeners: the checker finds a listener that gets fewer events than the others", () => {
  expect(violated(() => checkHeard({ first: 3, bad: 3, last: 3 }))).toBe("nothing");
  expect(violated(() => checkHeard({ first: 3, bad: 3, last: 2 }))).toBe("listeners");
  expect(violated(() => checkHeard({ first: 3, bad: 1, last: 3 }))).toBe("listeners");
});

test("unhandled: the checker finds a rejection without a handler until the seed is over", async () => {
  const source = new EventEmitter();
  const found: string[] = [];
  const over = watchUnhandled({ check: (work) => void found.push(violated(work)) }, source);
  source.emit("unhandledRejection", null);
  source.emit("uncaughtException", new Error("thrown"));
  await over();
  source.emit("unhandledRejection", null);
  expect(found).toEqual(["unhandled", "unhandled"]);
});

test("duties: the checker finds mail that is not taken and a missing sweep", async () => {
  const found = async (sweeps: boolean): Promise<string[]> => {
    const world = createSimulatedWorld(createRandom(1));
    const progress = createProgress();
    const watch = { trees: new Map([["tree", { posts: new Map() }]]) };
    const life = { ended: false };
    const store = { putMail: async () => ({ status: "put" as const }) };
    const random = createRandom(2);
    const duties = createDuties({
      world,
      watch,
      progress,
      random,
      secondHandle: () => store,
      poisoned: () => null,
      machine: () => ({ life }),
    });
    const violations: string[] = [];
    world.onAdvance = (to) => violations.push(violated(() => progress.look(to, 0)));
    if (sweeps) duties.probeSweep();
    else duties.probe();
    while (await world.step());
    return violations.filter((one) => one !== "nothing");
  };
  expect(await found(false)).toEqual(["duties"]);
  expect(await found(true)).toEqual(["duties"]);
});

/** A disk whose store has changed methods. */
function broken(change: (store: Store) => Partial<Store>): Disk {
  const disk = memoryDisk();
  return {
    ...disk,
    own() {
      const store = disk.own();
      return { ...store, ...change(store) };
    },
  };
}

async function failuresOf(change: (store: Store) => Partial<Store>): Promise<string[]> {
  const found: string[] = [];
  for (let seed = 1; seed <= 8; seed += 1) {
    const { failure } = await simulate(seed, broken(change), []);
    found.push(failure?.invariant ?? "nothing");
  }
  return found;
}

test("duties: a whole simulation finds a process that never looks for mail", async () => {
  expect(await failuresOf(() => ({ changed: () => Promise.resolve(false) }))).toContain("duties");
});

test("others: a whole simulation finds a store that never answers one of its commits", async () => {
  let commits = 0;
  const found = await failuresOf((store) => ({
    commit(commit) {
      commits += 1;
      return commits % 12 === 0 ? new Promise(() => {}) : store.commit(commit);
    },
  }));
  expect(found).toContain("others");
});

test("a lock lasts for its time and refuses only writes", async () => {
  const world = createSimulatedWorld(createRandom(3));
  const over: number[] = [];
  const troubles = drawTroubles(createRandom(4), ["locked-commits"]);
  const locks = createLocks(
    troubles,
    world,
    () => {},
    (refusals) => over.push(refusals),
  );
  expect(locks.locked("commit", null)).toBeNull();
  expect(locks.begin()).toBeGreaterThan(0);
  expect(locks.locked("commit", null)).toBeInstanceOf(Error);
  expect(locks.locked("rows", null)).toBeNull();
  while (await world.step());
  expect(locks.locked("commit", null)).toBeNull();
  expect(over).toEqual([1]);
});

test("every kind of trouble is drawn", () => {
  const drawn = new Set(Array.from({ length: 1_000 }, (_, seed) => [...drawTroubles(createRandom(seed)).kinds]).flat());
  expect([...drawn].toSorted()).toEqual(TROUBLES.toSorted());
});
