import { expect, test } from "vitest";
import { ErrandError } from "../../src/errors.ts";
import { createStorePause } from "../../src/runtime/commits/store-pause.ts";
import { createTestWorld } from "../support/test-world.ts";

const full = new ErrandError("store-full", "The disk is full.");

function pauseWithNotices() {
  const world = createTestWorld();
  const notices: string[] = [];
  const pause = createStorePause({
    world,
    onEnd: () => undefined,
    onNotice: ({ message }) => void notices.push(message),
  });
  return { world, notices, pause };
}

const OVER = "The store has room again after 1 s. The waiting work goes on.";

test("a full disk is reported once, and its end once", async () => {
  const { world, notices, pause } = pauseWithNotices();
  pause.failed(full, true);
  await world.advance(500);
  pause.failed(full, true);
  await world.advance(500);
  pause.succeeded();
  pause.succeeded();
  expect(notices).toEqual(["The disk is full."]);
  await world.advance(3_000);
  expect(notices).toEqual(["The disk is full.", OVER]);
  pause.failed(full, true);
  expect(notices).toHaveLength(3);
});

test("small writes that succeed on a full disk are no end, and no second notice follows", async () => {
  const { world, notices, pause } = pauseWithNotices();
  for (let tries = 0; tries < 5; tries += 1) {
    pause.failed(full, true);
    await world.advance(1_000);
    pause.succeeded();
    await world.advance(1_000);
  }
  expect(notices).toEqual(["The disk is full."]);
});

test("the end is reported before the store is closed", async () => {
  const { world, notices, pause } = pauseWithNotices();
  pause.failed(full, true);
  await world.advance(1_000);
  pause.succeeded();
  pause.cancel();
  expect(notices).toEqual(["The disk is full.", OVER]);
  await world.advance(5_000);
  expect(notices).toHaveLength(2);
});
