/**
 * Channels that fail, hang or are left behind. Nothing is lost, the order is kept, and a closing process does not wait
 * for ever.
 */

import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { type Channel, type ChannelMessage, ErrandError, type Store } from "../../src/index.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { say } from "../../src/testing/index.ts";
import { openTestErrand, temporaryFolder } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";
import { join } from "node:path";

const REPLIES = [say("one"), say("two"), say("three")];

/** Takes messages once it works; the first tries fail or hang. */
function brokenChannel(how: "fails" | "hangs"): { channel: Channel; tried: ChannelMessage[]; repair(): void } {
  const tried: ChannelMessage[] = [];
  let works = false;
  return {
    tried,
    repair: () => void (works = true),
    channel: {
      async deliver(message) {
        tried.push(message);
        if (works) return;
        if (how === "fails") throw new Error("no line");
        await new Promise(() => {});
      },
    },
  };
}

const texts = (messages: readonly ChannelMessage[]): string[] => messages.map(({ text }) => text);

test("a message that fails is tried again, and later messages wait behind it", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand({ parent: REPLIES }, { world });
  const { channel, tried, repair } = brokenChannel("fails");
  const agent = await errand.openAgent({ channel });
  await agent.postAndAwait("1");
  await agent.postAndAwait("2");
  await world.rest();
  expect(texts(tried)).toEqual(["one"]);
  expect(errand.channels()).toMatchObject([{ tree: agent.id, state: "retrying", error: "no line" }]);
  await world.advance(1_000);
  expect(texts(tried)).toEqual(["one", "one"]);
  repair();
  await world.advance(4_000);
  expect(texts(tried)).toEqual(["one", "one", "one", "two"]);
  expect(tried.map(({ repeated }) => repeated)).toEqual([false, true, true, false]);
  expect(new Set(tried.slice(0, 3).map(({ id }) => id)).size).toBe(1);
  expect(errand.channels()).toMatchObject([{ state: "idle", error: null }]);
});

test("after the last try the channel is blocked, a notice says so once, and attaching again goes on in order", async () => {
  const world = createTestWorld();
  const notices: ErrandError[] = [];
  const onNotice = (notice: ErrandError): void => void notices.push(notice);
  const { errand } = await openTestErrand({ parent: REPLIES }, { world, onNotice });
  const broken = brokenChannel("fails");
  const agent = await errand.openAgent({ channel: broken.channel });
  await agent.postAndAwait("1");
  await world.advance(200_000);
  // After 0, 1, 3, 7 s, and from then on every 4 s for 90 s.
  const tries = 25;
  expect(broken.tried).toHaveLength(tries);
  expect(notices.map(({ code }) => code)).toEqual(["channel-blocked"]);
  expect(notices[0]?.remedy).toContain("attach");
  expect(errand.channels()).toMatchObject([{ tree: agent.id, state: "blocked" }]);
  await (await errand.agent(agent.id)).postAndAwait("2");
  await world.advance(200_000);
  expect(broken.tried).toHaveLength(tries);
  const repaired = brokenChannel("fails");
  repaired.repair();
  const again = await errand.agent(agent.id, { channel: repaired.channel });
  await world.rest();
  expect(texts(repaired.tried)).toEqual(["one", "two"]);
  expect(repaired.tried[0]).toMatchObject({ id: broken.tried[0]?.id, repeated: true });
  await again.postAndAwait("3");
  await world.rest();
  expect(texts(repaired.tried)).toEqual(["one", "two", "three"]);
});

test("posting through the agent of a blocked channel tries that channel again", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand({ parent: REPLIES }, { world, onNotice: () => {} });
  const { channel, tried, repair } = brokenChannel("fails");
  const agent = await errand.openAgent({ channel });
  await agent.postAndAwait("1");
  await world.advance(200_000);
  const before = tried.length;
  repair();
  await agent.postAndAwait("2");
  await world.rest();
  expect(texts(tried.slice(before))).toEqual(["one", "two"]);
});

test("a delivery that hangs is given up after a minute and tried again", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand({ parent: REPLIES }, { world });
  const { channel, tried, repair } = brokenChannel("hangs");
  const agent = await errand.openAgent({ channel });
  await agent.postAndAwait("1");
  await world.advance(59_000);
  expect(tried).toHaveLength(1);
  repair();
  await world.advance(3_000);
  expect(tried.map(({ repeated }) => repeated)).toEqual([false, true]);
});

test("a channel that takes the place of one that hangs gets its message first", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand({ parent: REPLIES }, { world });
  const hanging = brokenChannel("hangs");
  const agent = await errand.openAgent({ channel: hanging.channel });
  await agent.postAndAwait("1");
  await world.rest();
  const other = brokenChannel("fails");
  other.repair();
  const again = await errand.agent(agent.id, { channel: other.channel });
  await again.postAndAwait("2");
  await world.advance(6_000);
  expect(texts(other.tried)).toEqual(["one", "two"]);
});

test("close() does not wait for a channel that hangs, and the message goes out again from the store", async () => {
  const store = join(temporaryFolder(), "store.db");
  const hanging = brokenChannel("hangs");
  const first = await openTestErrand({ parent: REPLIES }, { store });
  const agent = await first.errand.openAgent({ channel: hanging.channel });
  await agent.postAndAwait("1");
  const began = performance.now();
  await first.errand.close({ withinMs: 200 });
  expect(performance.now() - began).toBeLessThan(5_000);
  const second = await openTestErrand({ parent: REPLIES }, { store });
  const working = brokenChannel("fails");
  working.repair();
  await second.errand.agent(agent.id, { channel: working.channel });
  await expect.poll(() => working.tried).toMatchObject([{ id: hanging.tried[0]?.id, text: "one", repeated: true }]);
});

test("channels of closed conversations are released, and detach releases one that rests", async () => {
  const { errand } = await openTestErrand({ parent: [say("one"), say("two")] });
  const { channel, tried, repair } = brokenChannel("fails");
  repair();
  const closed = await errand.openAgent({ channel });
  await closed.postAndAwait("1");
  await closed.close();
  expect(errand.channels()).toEqual([]);
  expect(texts(tried)).toEqual(["one"]);
  const detached = await errand.openAgent({ channel });
  expect(errand.channels()).toHaveLength(1);
  detached.detach();
  expect(errand.channels()).toEqual([]);
  await detached.postAndAwait("2");
  expect(tried).toHaveLength(1);
  const again = await errand.agent(detached.id, { channel });
  await expect.poll(() => texts(tried)).toEqual(["one", "two"]);
  expect(again.id).toBe(detached.id);
});

/** The collector of this process, without a flag on the command line. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  // A weak reference that was read keeps its target until the task ends.
  await setImmediate();
  (runInNewContext("gc") as () => void)();
  await setImmediate();
}

test("a channel whose agent nobody holds gets the answer that it waits for, and is released at rest", async () => {
  const { errand } = await openTestErrand({ parent: [say("one")] });
  const { channel, tried, repair } = brokenChannel("fails");
  repair();
  const id = await errand.openAgent({ channel }).then((agent) => agent.id);
  await collectGarbage();
  const other = await errand.agent(id);
  await other.postAndAwait("1");
  await expect.poll(() => texts(tried)).toEqual(["one"]);
  await expect
    .poll(async () => {
      await collectGarbage();
      return errand.channels();
    })
    .toEqual([]);
});

test("a channel that is attached while the store cannot be read gets its messages later, in order", async () => {
  const world = createTestWorld();
  const memory = createMemoryStore();
  let busy = false;
  const store: Store = {
    ...memory,
    async pendingOutbox(tree) {
      if (busy) throw new ErrandError("store-busy", "Another program holds the lock.");
      return memory.pendingOutbox(tree);
    },
  };
  const { errand } = await openTestErrand({ parent: REPLIES }, { world, store });
  const agent = await errand.openAgent();
  await agent.postAndAwait("1");
  busy = true;
  const { channel, tried, repair } = brokenChannel("fails");
  repair();
  const held = await errand.agent(agent.id, { channel });
  await held.postAndAwait("2");
  await world.advance(3_000);
  expect(tried).toEqual([]);
  busy = false;
  await world.advance(2_000);
  expect(texts(tried)).toEqual(["one", "two"]);
  expect(tried.map(({ repeated }) => repeated)).toEqual([true, false]);
});

test("a message that a slow channel takes after its try was given up is not sent again", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand({ parent: REPLIES }, { world });
  const given: string[] = [];
  const { promise: slow, resolve: take } = Promise.withResolvers<void>();
  const channel: Channel = {
    async deliver({ text }) {
      given.push(text);
      if (given.length === 1) await slow;
    },
  };
  const agent = await errand.openAgent({ channel });
  await agent.postAndAwait("1");
  await world.advance(60_500);
  take();
  await world.advance(10_000);
  await agent.postAndAwait("2");
  await world.advance(10_000);
  expect(given).toEqual(["one", "two"]);
});

test("a message that is recorded as taken while the outbox is read does not go out again", async () => {
  const world = createTestWorld();
  const memory = createMemoryStore();
  let gate = Promise.resolve();
  const store: Store = {
    ...memory,
    async pendingOutbox(tree) {
      const pending = await memory.pendingOutbox(tree);
      await gate;
      return pending;
    },
  };
  const { errand } = await openTestErrand({ parent: REPLIES }, { world, store });
  const [first, second] = [brokenChannel("fails"), brokenChannel("fails")];
  first.repair();
  second.repair();
  const agent = await errand.openAgent({ channel: first.channel });
  await agent.postAndAwait("1");
  await world.rest();
  expect(texts(first.tried)).toEqual(["one"]);
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const attached = errand.agent(agent.id, { channel: second.channel });
  await world.rest();
  await agent.postAndAwait("2");
  resolve();
  const held = await attached;
  await world.rest();
  expect(held.id).toBe(agent.id);
  expect(texts(second.tried)).toEqual(["two"]);
});
