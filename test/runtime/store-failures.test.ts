import { expect, test } from "vitest";
import type { Store } from "../../src/index.ts";
import { ErrandError } from "../../src/index.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { byContext, callTool, createMemoryChannel, hang, say } from "../../src/testing/index.ts";
import { lookTool, openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

/**
 * A store whose commits do what the test says: "before" fails and leaves nothing, "after" fails though it is durable.
 */
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
      expect(await errand.listRuns()).toMatchObject([{ status: "ok", delivery: "placed" }]);
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

test("I17: a tree whose commit found no room keeps the slots of its runs", async () => {
  const world = createTestWorld();
  let room = true;
  const store = faulty(() => (room ? null : { when: "before", error: full }));
  const { errand } = await openTestErrand(
    { parent: byContext([callTool("start_background_agent", { task: "x" }), say("started")]), child: () => hang() },
    { store, world, slots: 1 },
  );
  const first = await errand.openAgent();
  await first.post("go");
  await world.rest();
  room = false;
  await expect(first.post("more")).rejects.toMatchObject({ code: "store-full" });
  room = true;
  await world.rest();
  const second = await errand.openAgent();
  await second.post("go");
  await world.rest();
  expect((await errand.listRuns()).map(({ state }) => state).toSorted()).toEqual(["queued", "running"]);
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

test("what trails is made durable soon, though nothing follows it; if that fails, it is told", async () => {
  const failures: ErrandError[] = [];
  const store = createMemoryStore();
  const trail: string[] = [];
  const { promise: told, resolve } = Promise.withResolvers<void>();
  const lagging: Store = {
    ...store,
    async commit(commit) {
      await store.commit(commit);
      trail.push(commit.deferFsync === true ? "trails" : "waits");
    },
    async flush() {
      if (trail.at(-1) !== "trails") return;
      trail.push("caught up");
      throw failed;
    },
  };
  const { errand } = await openTestErrand(
    { parent, child: () => hang() },
    {
      store: lagging,
      onFailure(error) {
        failures.push(error);
        resolve();
      },
    },
  );
  await (await errand.openAgent()).post("go");
  await told;
  expect(trail).toEqual(["waits", "waits", "trails", "caught up"]);
  expect(failures).toEqual([failed]);
});

test("whoever asks or subscribes is told of nothing that is not on disk", async () => {
  const store = createMemoryStore();
  const { promise: onDisk, resolve: reachDisk } = Promise.withResolvers<void>();
  let asked = 0;
  const slow: Store = {
    ...store,
    flush() {
      asked += 1;
      return onDisk;
    },
  };
  const { errand } = await openTestErrand({ parent, child: () => hang() }, { store: slow });
  const agent = await errand.openAgent();
  await agent.post("go");
  const told: string[] = [];
  const reading = Promise.all([
    errand.listRuns().then(() => told.push("runs")),
    errand.listTrees().then(() => told.push("trees")),
    errand
      .journal(agent.id)
      .next()
      .then(() => told.push("an event")),
  ]);
  while (asked < 4) await new Promise((resolve) => setImmediate(resolve));
  expect(told).toEqual([]);
  reachDisk();
  await reading;
  expect(told.toSorted()).toEqual(["an event", "runs", "trees"]);
});

test("I9: what a commit of unknown outcome has ended is stopped once it is known that it became durable", async () => {
  const world = createTestWorld();
  let doubtful = false;
  const store = faulty(() => {
    const fault = doubtful ? { when: "after" as const, error: unknown } : null;
    doubtful = false;
    return fault;
  });
  const signals: AbortSignal[] = [];
  const tool = lookTool((_, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  const { errand } = await openTestErrand(
    {
      parent: byContext([callTool("start_background_agent", { task: "x" }), say("started")]),
      child: byContext([callTool("look", {})]),
    },
    { store, world, tools: [tool] },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.rest();
  const [run] = await errand.listRuns();
  doubtful = true;
  expect(await errand.cancel(run?.id ?? "")).toBe(true);
  await world.rest();
  expect(await errand.listRuns()).toMatchObject([{ status: "cancelled" }]);
  expect(signals.map((signal) => signal.aborted)).toEqual([true]);
});

test("I8: a deadline that a commit of unknown outcome has set is kept, though nothing else happens", async () => {
  const world = createTestWorld();
  let doubtful = false;
  const store = faulty(() => {
    const fault = doubtful ? { when: "after" as const, error: unknown } : null;
    doubtful = false;
    return fault;
  });
  const { errand } = await openTestErrand({ parent: () => say("hello"), child: () => hang() }, { store, world });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  doubtful = true;
  await agent.spawn({ task: "x", timeoutSeconds: 60 });
  await world.rest();
  expect(await errand.listRuns()).toMatchObject([{ state: "running" }]);
  await world.advance(70_000);
  expect(await errand.listRuns()).toMatchObject([{ status: "timeout" }]);
});

test("I11: a writer that another came before does nothing of what the other decided", async () => {
  const store = createMemoryStore();
  const world = createTestWorld();
  const asked: string[] = [];
  const parent =
    (name: string) =>
    (_: unknown, { newest }: { readonly newest: string }) => {
      asked.push(`${name}: ${newest}`);
      return hang();
    };
  const { errand: first } = await openTestErrand({ parent: parent("first") }, { store, world });
  const agent = await first.openAgent();
  const { errand: second } = await openTestErrand({ parent: parent("second") }, { store, world });
  const other = await second.agent(agent.id);
  await other.post("to the second");
  await world.rest();
  void agent.post("to the first").catch(() => {});
  await world.rest();
  // The first found that it was too late, looked again, and took over what the second had under way, message and all.
  expect(asked).toEqual(["second: to the second", "first: to the second"]);
});

test("an answer whose commit is in doubt is told, though the store cannot be read at first", async () => {
  const world = createTestWorld();
  let doubt: "none" | "next" | "busy" = "none";
  const inner = faulty(() => {
    if (doubt !== "next") return null;
    doubt = "busy";
    return { when: "after", error: unknown };
  });
  let refused = 0;
  const store: Store = {
    ...inner,
    async post(tree, id) {
      if (doubt !== "busy" || refused === 3) return inner.post(tree, id);
      refused += 1;
      throw new ErrandError("store-busy", "Another program holds the lock.");
    },
  };
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  const answer = async () => {
    resolve();
    await gate;
    return say("done");
  };
  const { errand } = await openTestErrand({ parent: answer }, { store, world });
  const agent = await errand.openAgent();
  const reply = agent.postAndAwait("go");
  await asked;
  await world.rest();
  doubt = "next";
  release();
  await world.advance(5_000);
  expect(refused).toBe(3);
  expect((await reply).text).toBe("done");
});
