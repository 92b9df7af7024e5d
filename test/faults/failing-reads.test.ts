/**
 * A store that fails to be read while an effect needs it: the process goes on, and the read is done again or told to
 * the model.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../src/index.ts";
import { ErrandError } from "../../src/index.ts";
import { asPostId, asTreeId } from "../../src/core/values/ids.ts";
import { openStoreAt, sha256 } from "../../src/runtime/create-runtime.ts";
import { mailOf } from "../../src/runtime/messages/mail.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { byContext, callTool, say } from "../../src/testing/index.ts";
import { requestText } from "../support/model-requests.ts";
import { createDatabase } from "../support/postgres/databases.ts";
import { eventsUntil, openTestErrand, temporaryStore, turnsEnded } from "../support/test-errand.ts";

const BUSY = new ErrandError("store-busy", "another program holds a lock");

/** A real store whose lists of runs fail while `failure` says so. */
async function failingStore(kind: string) {
  const trouble: { failure: Error | null; reads: number } = { failure: null, reads: 0 };
  let address = temporaryStore();
  if (kind === "postgres") {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    address = database.url;
  }
  const inner = await openStoreAt(address, "own");
  const store: Store = {
    ...inner,
    async runs(query) {
      trouble.reads += 1;
      if (trouble.failure !== null) throw trouble.failure;
      return inner.runs(query);
    },
  };
  return { store, trouble };
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await sleep(10);
}

test.each(["sqlite", "postgres"])("a tool that reads a busy store answers once it can (%s)", async (kind) => {
  const { store, trouble } = await failingStore(kind);
  const { errand, models } = await openTestErrand(
    { parent: byContext([callTool("list_runs", {}), say("done")]) },
    { store },
  );
  const agent = await errand.openAgent();
  trouble.failure = BUSY;
  const reply = agent.postAndAwait("go");
  await until(() => trouble.reads >= 3);
  trouble.failure = null;
  expect(await reply).toMatchObject({ text: "done" });
  expect(requestText(models.requests.at(-1))).not.toContain("could not be read");
});

test("a tool whose store cannot be read tells the model, and the turn goes on", async () => {
  const { store, trouble } = await failingStore("sqlite");
  const { errand, models } = await openTestErrand(
    { parent: byContext([callTool("list_runs", {}), say("done")]) },
    { store },
  );
  const agent = await errand.openAgent();
  trouble.failure = new ErrandError("store-corrupt", "A row is damaged.");
  expect(await agent.postAndAwait("go")).toMatchObject({ text: "done" });
  expect(requestText(models.requests.at(-1))).toContain(
    "Error: list_runs: the store could not be read: A row is damaged.",
  );
  expect(trouble.reads).toBe(1);
  expect(await errand.replay(agent.id)).toMatchObject({ difference: null });
});

test("texts are erased once a busy store can be read again", async () => {
  const { store, trouble } = await failingStore("sqlite");
  const { errand } = await openTestErrand(
    {
      parent: byContext([callTool("start_background_agent", { task: "x", cleanup: "delete" }), say("a"), say("b")]),
      child: [callTool("send_agent_message", { text: "secret", final: true })],
    },
    { store },
  );
  const agent = await errand.openAgent();
  trouble.failure = BUSY;
  await agent.post("go");
  await eventsUntil(errand, agent.id, turnsEnded(2));
  await until(() => trouble.reads >= 3);
  trouble.failure = null;
  const events = await eventsUntil(errand, agent.id, ({ facts }) => facts.some(({ type }) => type === "texts-erased"));
  expect(events.length).toBeGreaterThan(0);
});

test("a reading that fails for good is told once as a notice, and the process goes on", async () => {
  const { store, trouble } = await failingStore("sqlite");
  const notices: string[] = [];
  const { errand } = await openTestErrand(
    {
      parent: byContext([
        callTool("start_background_agent", { task: "x", cleanup: "delete" }),
        say("a"),
        say("b"),
        say("still here"),
      ]),
      child: [callTool("send_agent_message", { text: "secret", final: true })],
    },
    { store, onNotice: ({ code }) => void notices.push(code) },
  );
  const agent = await errand.openAgent();
  trouble.failure = new ErrandError("store-corrupt", "A row is damaged.");
  await agent.post("go");
  await eventsUntil(errand, agent.id, turnsEnded(2));
  await until(() => notices.length > 0);
  expect(notices).toEqual(["store-corrupt"]);
  expect(await agent.postAndAwait("and now?")).toMatchObject({ text: "still here" });
});

/** More trees than are loaded at the same time. */
const MANY_TREES = 40;

test("while the store gives no tree, inputs for many trees wait without work for the processor", async () => {
  const inner = createMemoryStore();
  let gate = Promise.resolve();
  const store: Store = {
    ...inner,
    close: async () => undefined,
    async claim(trees) {
      await gate;
      return inner.claim(trees);
    },
  };
  const first = await openTestErrand({ parent: [] }, { store });
  const ids: string[] = [];
  for (let n = 0; n < MANY_TREES; n += 1) ids.push((await first.errand.openAgent()).id);
  await first.errand.close();
  let turns = 0;
  const system = createSystemWorld();
  const world = { ...system, soon: (callback: () => void) => ((turns += 1), system.soon(callback)) };
  const { errand } = await openTestErrand({ parent: byContext([say("here")]) }, { store, world });
  const agents = await Promise.all(ids.map((id) => errand.agent(id)));
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const replies = agents.map((agent) => agent.postAndAwait("go"));
  await sleep(100);
  turns = 0;
  await sleep(500);
  expect(turns).toBeLessThan(20);
  resolve();
  for (const reply of await Promise.all(replies)) expect(reply.text).toBe("here");
});

const CORRUPT = new ErrandError("store-corrupt", "A row is damaged.");

/** Mail for the tree, and whether it was taken. */
async function takesMail(store: Store, tree: string): Promise<void> {
  const input = {
    type: "message-posted",
    id: asPostId("by-mail"),
    to: 0,
    kind: "system",
    silent: true,
    size: 2,
  } as const;
  await store.putMail(mailOf(asTreeId(tree), input, ["hi"], sha256));
  await expect.poll(() => store.post(asTreeId(tree), asPostId("by-mail"))).not.toBeNull();
}

test("a conversation whose outbox cannot be read does not keep others from their mail", async () => {
  const inner = createMemoryStore();
  let damaged = "";
  const store: Store = {
    ...inner,
    pendingOutbox: (tree) => (tree === damaged ? Promise.reject(CORRUPT) : inner.pendingOutbox(tree)),
  };
  const { errand } = await openTestErrand({ parent: [] }, { store });
  const [bad, good] = [await errand.openAgent(), await errand.openAgent()];
  damaged = bad.id;
  const channel = { deliver: async () => undefined };
  await expect(errand.agent(bad.id, { channel })).rejects.toMatchObject({ code: "store-corrupt" });
  await takesMail(store, good.id);
  expect(errand.channels()).toEqual([]);
});

test("a caller whose answer cannot be read is rejected, and others get their mail", async () => {
  const inner = createMemoryStore();
  let doubt = false;
  let failure: ErrandError | null = null;
  const store: Store = {
    ...inner,
    async commit(commit) {
      await inner.commit(commit);
      if (!doubt) return;
      doubt = false;
      failure = BUSY;
      throw new ErrandError("commit-unknown", "The connection ended.");
    },
    async post(tree, id) {
      const error = failure;
      if (id !== "asked" || error === null) return inner.post(tree, id);
      failure = CORRUPT;
      throw error;
    },
  };
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  const answer = async () => {
    resolve();
    await gate;
    return say("done");
  };
  const { errand } = await openTestErrand({ parent: answer }, { store });
  const [bad, good] = [await errand.openAgent(), await errand.openAgent()];
  const reply = bad.postAndAwait("go", { id: "asked" });
  const rejected = expect(reply).rejects.toMatchObject({ code: "store-corrupt" });
  await asked;
  doubt = true;
  release();
  await rejected;
  await takesMail(store, good.id);
});

test("a conversation of another worker that cannot be read does not keep others from their answers", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  const script = async () => {
    await gate;
    return say("done");
  };
  const first = await openTestErrand({ parent: script }, { store: database.url });
  const [bad, good] = [await first.errand.openAgent(), await first.errand.openAgent()];
  for (const agent of [bad, good]) await agent.post("go", { id: "asked" });
  const inner = await openStoreAt(database.url, "own");
  let damaged = false;
  const store: Store = {
    ...inner,
    rows: (tree, from, limit) => (damaged && tree === bad.id ? Promise.reject(CORRUPT) : inner.rows(tree, from, limit)),
  };
  const second = await openTestErrand({ parent: script }, { store, recover: false, onNotice: () => undefined });
  const [badReply, goodReply] = await Promise.all(
    [bad, good].map(async ({ id }) => {
      const agent = await second.errand.agent(id);
      return { reply: agent.postAndAwait("go", { id: "asked", timeoutMs: 20_000 }) };
    }),
  );
  const rejected = expect(badReply?.reply).rejects.toMatchObject({ code: "store-corrupt" });
  await sleep(500);
  damaged = true;
  release();
  await rejected;
  expect((await goodReply?.reply)?.text).toBe("done");
});
