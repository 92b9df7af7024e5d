import { describe, expect, test } from "vitest";
import { asStepKey, asTreeId } from "../../src/core/values/ids.ts";
import { createExecutions } from "../../src/runtime/effects/executions.ts";
import { createBreather, createPace } from "../../src/runtime/effects/pace.ts";
import { createManualTurns } from "../support/manual-turns.ts";

test("work starts at once while a turn has time, and the rest starts in later turns, in order", () => {
  const world = createManualTurns();
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
  const world = createManualTurns();
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
  const world = createManualTurns();
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

describe("effects of one reply", () => {
  const tree = asTreeId("tree");
  const keys = ["1.1", "1.2", "1.3"].map(asStepKey);

  /** Three effects, of which the first takes the time of the turn to start. */
  function threeEffects() {
    const world = createManualTurns();
    const submitted: string[] = [];
    const executions = createExecutions({
      world,
      submit: ({ input }) => void submitted.push(input.type === "tool-finished" ? input.effect : input.type),
      onFailure: (error) => void submitted.push(String(error)),
    });
    const started: string[] = [];
    for (const key of keys) {
      executions.execute(tree, { key, attempt: 1 }, async () => {
        started.push(key);
        world.pass(5);
        return { tree, input: { type: "tool-finished", effect: key, attempt: 1, size: 0 }, texts: [""] };
      });
    }
    return { world, executions, started, submitted };
  }

  test("those that wait for their turn count as executing", () => {
    const { executions, started } = threeEffects();
    expect(started).toEqual(["1.1"]);
    expect(executions.count(tree)).toBe(3);
    expect(executions.executing(tree, asStepKey("1.3"))).toBe(true);
  });

  test("one that is aborted before its turn is never begun", async () => {
    const { world, executions, started, submitted } = threeEffects();
    executions.abort(tree, asStepKey("1.2"));
    for (let turns = 0; turns < 3; turns += 1) world.turn();
    await executions.drain();
    expect(started).toEqual(["1.1", "1.3"]);
    expect(submitted).toEqual(["1.1", "1.3"]);
  });

  test("those that wait are executed when no more are taken, and none after all were aborted", async () => {
    const draining = threeEffects();
    const drained = draining.executions.drain();
    for (let turns = 0; turns < 3; turns += 1) draining.world.turn();
    await drained;
    expect(draining.submitted).toEqual(keys);
    const aborting = threeEffects();
    aborting.executions.abortAll();
    for (let turns = 0; turns < 3; turns += 1) aborting.world.turn();
    expect(aborting.started).toEqual(["1.1"]);
    expect(aborting.executions.count(tree)).toBe(0);
  });
});
