import { expect, test } from "vitest";
import type { Store } from "../../src/index.ts";
import { ErrandError } from "../../src/index.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { byContext, callTool, createMemoryChannel, say } from "../../src/testing/index.ts";
import { lookTool, openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

/** A store whose commits do what the test says: "before" fails and leaves nothing, "after" fails though it is durable. */
function faulty(next: () => { when: "before" | "after"; error: ErrandError } | null): Store {
  const store = createMemoryStore();
  return {
    ...store,
    async commit(commit) {
      const fault = next();
      if (fault?.when === "before") throw fault.error;
      await store.commit(commit);
      if (fault?.when === "after") throw fault.error;
    },
  };
}

const unknown = new ErrandError("commit-unknown", "The connection was cut after COMMIT was sent.");
const full = new ErrandError("store-full", "The disk is full.");
const failed = new ErrandError("store-failed", "fsync failed.");
const child = byContext([callTool("look", {}), callTool("send_agent_message", { text: "found" }), say("end")]);
const parent = byContext([callTool("subagent", { task: "x" }), say("done")]);

test.each(["before", "after"] as const)(
  "a commit of unknown outcome (%s it was durable) is looked up: nothing is lost or doubled",
  async (when) => {
    for (let which = 2; which <= 8; which += 1) {
      let commits = 0;
      let ran = 0;
      const store = faulty(() => {
        commits += 1;
        return commits === which ? { when, error: unknown } : null;
      });
      const tool = lookTool(async () => {
        ran += 1;
        return { text: "saw", failed: false };
      }, false);
      const { errand, models } = await openTestErrand({ parent, child }, { store, tools: [tool] });
      const channel = createMemoryChannel();
      const agent = await errand.openAgent({ channel });
      expect((await agent.postAndAwait("go", { id: "one" })).text).toBe("done");
      expect(ran).toBe(1);
      expect(models.requests).toHaveLength(5);
      expect(await errand.runs()).toMatchObject([{ status: "ok", delivery: "placed" }]);
      expect((await errand.replay(agent.id)).difference).toBeNull();
      const users = models.requests.at(-1)?.messages.filter((message) => message.role === "user");
      expect(users).toEqual([{ role: "user", text: "go" }]);
    }
  },
);

test("scenario 33: while the disk is full new work is refused and nothing acknowledged is lost; with room again it goes on", async () => {
  const world = createTestWorld();
  let room = true;
  const store = faulty(() => (room ? null : { when: "before", error: full }));
  let finish = (): void => {};
  const tool = lookTool(() => new Promise((resolve) => (finish = () => resolve({ text: "saw", failed: false }))));
  const { errand } = await openTestErrand(
    { parent: byContext([callTool("look", {}), say("seen")]) },
    { store, world, tools: [tool] },
  );
  const channel = createMemoryChannel();
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await world.rest();
  room = false;
  finish();
  await world.advance(5_000);
  await expect(agent.post("more")).rejects.toMatchObject({ code: "store-full" });
  room = true;
  await world.advance(2_000);
  expect(channel.messages.map((message) => message.text)).toEqual(["seen"]);
});

test("scenario 33: after a failed fsync nothing is taken any more", async () => {
  const failures: ErrandError[] = [];
  let good = true;
  const store = faulty(() => (good ? null : { when: "before", error: failed }));
  const { errand } = await openTestErrand(
    { parent: () => say("hello") },
    { store, onFailure: (error) => failures.push(error) },
  );
  const agent = await errand.openAgent();
  good = false;
  await expect(agent.post("one")).rejects.toMatchObject({ code: "store-failed" });
  good = true;
  await expect(agent.post("two")).rejects.toMatchObject({ code: "store-failed" });
  expect(failures).toEqual([failed]);
});
