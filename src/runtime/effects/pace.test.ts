import { expect, test } from "vitest";
import { createBreather, createPace } from "./pace.ts";

/** A world whose clock and turns the test moves. */
function manualWorld() {
  let now = 0;
  let soon: (() => void)[] = [];
  return {
    monotonic: () => now,
    soon: (callback: () => void) => void soon.push(callback),
    pass: (milliseconds: number) => void (now += milliseconds),
    turn() {
      const due = soon;
      soon = [];
      for (const callback of due) callback();
    },
    waiting: () => soon.length,
  };
}

test("work starts at once while a turn has time, and the rest starts in later turns, in order", () => {
  const world = manualWorld();
  const pace = createPace(world);
  const started: number[] = [];
  const give = (number: number): void =>
    pace.start(() => {
      started.push(number);
      world.pass(2);
    });
  for (let number = 0; number < 8; number += 1) give(number);
  expect(started).toEqual([0, 1, 2]);
  world.turn();
  expect(started).toEqual([0, 1, 2, 3, 4, 5]);
  give(8);
  expect(started).toHaveLength(6);
  world.turn();
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  world.turn();
  expect(world.waiting()).toBe(0);
  give(9);
  expect(started.at(-1)).toBe(9);
});

test("work that waits comes before work that starting it gave", () => {
  const world = manualWorld();
  const pace = createPace(world);
  const started: string[] = [];
  const give = (name: string, then: () => void = () => undefined): void =>
    pace.start(() => {
      started.push(name);
      world.pass(5);
      then();
    });
  give("first");
  give("second", () => give("child of the second"));
  give("third");
  for (let turns = 0; turns < 5; turns += 1) world.turn();
  expect(started).toEqual(["first", "second", "third", "child of the second"]);
});

test("a long loop waits for the next turn once its time is over", async () => {
  const world = manualWorld();
  const breathe = createBreather(world);
  await breathe();
  world.pass(5);
  let breathed = false;
  const waits = breathe().then(() => (breathed = true));
  await Promise.resolve();
  expect(breathed).toBe(false);
  world.turn();
  await waits;
  await breathe();
  expect(world.waiting()).toBe(0);
});
