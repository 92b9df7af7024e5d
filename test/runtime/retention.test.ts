import { expect, test } from "vitest";
import { say } from "../../src/testing/index.ts";
import { openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const DAY = 86_400_000;

test("D10: a conversation at rest is kept for 30 days and then expires, while one that goes on stays", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand({ parent: () => say("hello") }, { world });
  const [resting, talking] = [await errand.openAgent(), await errand.openAgent()];
  await resting.postAndAwait("hello");
  await talking.postAndAwait("hello");
  await world.skip(29 * DAY);
  await talking.postAndAwait("still there?");
  expect((await errand.listTrees()).map((agent) => agent.status)).toEqual(["open", "open"]);
  await world.skip(2 * DAY);
  const statuses = new Map<string, string>((await errand.listTrees()).map((agent) => [agent.id, agent.status]));
  expect([statuses.get(resting.id), statuses.get(talking.id)]).toEqual(["expired", "open"]);
  await expect(resting.post("still there?")).rejects.toMatchObject({ code: "tree-unknown" });
});
