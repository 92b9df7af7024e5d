/** Which writes a loss of power removes in a simulation. */

import { expect, onTestFinished, test } from "vitest";
import { birth, commitOf, part, treeNumber } from "../conformance/store-samples.ts";
import { memoryDisk, openPlace } from "./place.ts";
import { createPower, type Write } from "./power.ts";
import { createRandom } from "./random.ts";

const tree = treeNumber(1);
const commit = (seq: number, deferFsync: boolean): Write => ({
  name: "commit",
  given: [{ ...commitOf(seq === 1 ? birth(tree) : part(tree, seq, seq)), deferFsync }],
});

test("a cut keeps commits that waited for the disk and all before them, and a part of the deferred ones without a gap", () => {
  const lengths = new Set<number>();
  for (let seed = 0; seed < 50; seed += 1) {
    const power = createPower();
    const writes = [true, false, true, true].map((deferFsync, index) => commit(index + 1, deferFsync));
    for (const write of writes) power.wrote(write, false);
    const left = power.cut(createRandom(seed)) ?? [];
    expect(left).toEqual(writes.slice(0, left.length));
    lengths.add(left.length);
    expect(power.cut(createRandom(seed))).toBeNull();
  }
  expect(lengths).toEqual(new Set([2, 3]));
});

test("a cut keeps flushed writes and writes before mail; it may remove writes that the disk refused", () => {
  const power = createPower();
  power.wrote(commit(1, true), false);
  const done = power.sync();
  power.wrote(commit(2, true), false);
  done();
  expect(power.behind()).toBe(true);
  expect(power.cut(createRandom(1))).toHaveLength(1);
  expect(power.behind()).toBe(false);
  expect(power.cut(createRandom(1))).toBeNull();
  power.wrote(commit(2, true), false);
  power.wrote({ name: "putMail", given: [] }, false);
  expect(power.cut(createRandom(1))).toBeNull();
  power.wrote(commit(3, false), true);
  expect(power.cut(createRandom(1))).toHaveLength(3);
});

test.each(["sqlite", "sqliteAnew", "memory"] as const)(
  "a disk is restored to the remaining writes while readers have it open (%s)",
  async (way) => {
    const place = await openPlace();
    onTestFinished(() => place.close());
    const disk = way === "memory" ? memoryDisk() : await place[way]();
    const beside = disk.beside();
    const own = disk.own();
    const anchor = { at: 1, wall: 1, monotonic: 1, boot: "b" };
    const writes = [commit(1, false), { name: "setAnchor", given: [anchor] }, commit(2, true)];
    for (const { name, given } of writes)
      await (own as unknown as Record<string, (...given: readonly unknown[]) => Promise<unknown>>)[name]?.(...given);
    expect(await beside.rows(tree, 1, 9)).toHaveLength(2);
    await own.close();
    await disk.restore(writes.slice(0, 2));
    expect(await beside.rows(tree, 1, 9)).toHaveLength(1);
    const next = disk.own();
    expect(await next.anchor()).toEqual(anchor);
    await next.commit(commitOf(part(tree, 2, 2)));
    expect(await beside.rows(tree, 1, 9)).toHaveLength(2);
  },
);
