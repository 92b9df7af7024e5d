/** A store that fails to be read while an effect needs it: the process goes on, and the read is done again or told to the model. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../src/index.ts";
import { ErrandError } from "../../src/index.ts";
import { openStoreAt } from "../../src/runtime/create-runtime.ts";
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
