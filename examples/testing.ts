/**
 * Testing: scripted replies, a clock that the test moves, and a crash, here with the test runner of Node.js. With
 * vitest there are matchers too: docs/guide/testing.md.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestErrand, delegate, misbehaving, report, say } from "errand/testing";

await test("a child that hangs costs two minutes, and the agent goes on", async () => {
  const { errand, world, close } = await createTestErrand({
    replies: { orchestrator: [delegate("Look it up."), say("I could not.")], worker: misbehaving.hangs() },
  });
  const began = world.wall();
  const { text, runs } = await world.until(errand.run("What is it?"));
  assert.equal(text, "I could not.");
  assert.equal(runs[0]?.status, "timeout");
  assert.equal(world.wall() - began, 120_000);
  await close();
});

await test("a task that is interrupted by a crash is done once", async () => {
  const opened = await createTestErrand({
    replies: { orchestrator: [delegate("Look it up."), say("It is 42.")], worker: [report("42")] },
  });
  for await (const { type } of opened.errand.stream("What is it?", { key: "it" })) if (type === "run-started") break;
  const errand = await opened.crash();
  const { text, runs } = await errand.run("What is it?", { key: "it" });
  assert.equal(text, "It is 42.");
  assert.deepEqual(
    runs.map(({ status, delivery }) => [status, delivery]),
    [["ok", "placed"]],
  );
  await opened.close();
});
