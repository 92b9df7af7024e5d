/**
 * A disk that stays full: a bounded number of tries, nothing that piles up, and one row for each input when there is
 * room again.
 */

import { expect, test } from "vitest";
import { ErrandError, type Store } from "../../src/index.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { byContext, callTool, hang, say } from "../../src/testing/index.ts";
import { openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const HOUR_S = 3_600;

test("an hour on a full disk with a due deadline: about one try a second, and then one row", async () => {
  const world = createTestWorld();
  const memory = createMemoryStore();
  let room = true;
  const asked = { commits: 0, reads: 0 };
  const store: Store = {
    ...memory,
    async commit(commit) {
      if (!room) {
        asked.commits += 1;
        throw new ErrandError("store-full", "The disk is full.");
      }
      return memory.commit(commit);
    },
    async due(at) {
      if (!room) asked.reads += 1;
      return memory.due(at);
    },
  };
  const { errand } = await openTestErrand(
    { parent: byContext([callTool("start_background_agent", { task: "x" }), say("started")]), child: () => hang() },
    { store, world },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  await world.rest();
  const [run] = await errand.listRuns();
  const before = (await memory.rows(agent.id, 1, 1_000)).length;
  room = false;
  // The barrier of 5 minutes and the deadline of 30 minutes pass while there is no room.
  await world.advance(HOUR_S * 1_000);
  expect(asked.commits).toBeGreaterThan(1_000);
  expect(asked.commits).toBeLessThan(HOUR_S + 100);
  expect(asked.reads).toBeLessThan(2 * HOUR_S);
  room = true;
  await world.advance(2_000);
  expect(await errand.getRun(run?.id ?? "")).toMatchObject({ status: "timeout" });
  const rows = (await memory.rows(agent.id as never, before + 1, 1_000)).map(
    ({ head }) => (JSON.parse(head) as { input: { type: string } }).input.type,
  );
  expect(rows.filter((type) => type === "timers-due")).toHaveLength(1);
  expect(rows.filter((type) => type === "effects-lost")).toHaveLength(0);
  expect((await errand.replay(agent.id)).difference).toBeNull();
});
