import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createErrand, type Errand, type Store } from "../../src/index.ts";
import type { DefinitionText } from "../../src/core/values/definition.ts";
import { asTreeId } from "../../src/core/values/ids.ts";
import { replayBegin } from "../../src/core/journal/replay.ts";
import { treeSource } from "../../src/core/tree.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import {
  byContext,
  callTool,
  callTools,
  createMemoryChannel,
  createScriptedModels,
  fail,
  hang,
  say,
  type Script,
} from "../../src/testing/index.ts";
import { newestUserText, parentRequests, requestJson } from "../support/model-requests.ts";
import { report, startCall, startRuns } from "../support/scripted-replies.ts";
import { acceptedFacts, eventsNow } from "../support/tree-facts.ts";
import { eventsUntil, lookTool, openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** The same store for several processes after each other. */
function shared(store: Store = createMemoryStore()): Store {
  return { ...store, close: async () => undefined };
}

/** A process that is left as if it had been killed: nobody closes it. */
function openUnclosed(store: Store): Promise<Errand> {
  return createErrand({
    store,
    models: [createScriptedModels({ "scripted/parent": parent(), "scripted/child": child })],
    tools: [lookTool()],
    agents: {
      orchestrator: { prompt: "You are the parent.", model: "scripted/parent" },
      worker: { prompt: "You are a child.", model: "scripted/child" },
      researcher: { prompt: "You are a child.", model: "scripted/child" },
    },
  });
}

const parent = (): Script => [startRuns(startCall("errand", { cleanup: "delete" })), say("started"), say("told")];
const child = byContext([
  callTools([{ name: "look", input: { secret: "SECRET ONE" } }], { text: "SECRET TWO" }),
  report("the findings"),
  say("SECRET THREE"),
]);

async function erased(errand: Errand, tree: string): Promise<void> {
  await eventsUntil(errand, tree, (event) => event.facts.some((fact) => fact.type === "texts-erased"));
}

async function texts(store: Store, tree: string): Promise<string> {
  return JSON.stringify((await store.rows(asTreeId(tree), 1, 1_000)).map((row) => row.body));
}

test("D10: cleanup delete erases the child's texts after delivery; the record and the findings stay", async () => {
  const store = shared();
  const { errand, models } = await openTestErrand({ parent: parent(), child }, { store });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  await erased(errand, agent.id);
  const events = await eventsNow(errand, agent.id);
  const order = events.flatMap((event) => event.facts).map((fact) => fact.type);
  expect(order.indexOf("texts-erased")).toBeGreaterThan(order.indexOf("run-ended"));
  expect(acceptedFacts(events, "turn-started").some((fact) => fact.placed?.includes(1) === true)).toBe(true);
  const left = await texts(store, agent.id);
  for (const secret of ["SECRET ONE", "SECRET TWO", "SECRET THREE", "saw it"]) expect(left).not.toContain(secret);
  expect(newestUserText(parentRequests(models)[2])).toContain("the findings");
  const [run] = await errand.listRuns();
  expect(run).toMatchObject({ name: "errand", status: "ok", cleanup: "delete", delivery: "placed" });
  expect(await errand.result(run?.id ?? "")).toBe("the findings");
});

test("D10: with cleanup keep, the default, the child's texts stay", async () => {
  const store = shared();
  const channel = createMemoryChannel();
  const { errand } = await openTestErrand(
    { parent: [startRuns(startCall("errand")), say("started"), say("told")], child },
    { store },
  );
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await channel.received(2);
  expect(await texts(store, agent.id)).toContain("SECRET TWO");
});

test("D10: the journal's chain and decisions stay provable after the erasure", async () => {
  const store = shared();
  const { errand } = await openTestErrand({ parent: parent(), child }, { store });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  await erased(errand, agent.id);
  const rows = await store.rows(asTreeId(agent.id), 1, 1_000);
  const blobs = new Map<string, string>();
  for (const definition of acceptedFacts(await eventsNow(errand, agent.id), "tree-opened")[0]?.catalog ?? [])
    blobs.set(definition.hash, (await store.blob(asTreeId(agent.id), definition.hash)) ?? "");
  const replay = replayBegin(treeSource(sha256, (hash) => JSON.parse(blobs.get(hash) ?? "") as DefinitionText));
  for (const row of rows) replay.take(row);
  const proof = replay.report();
  expect(proof.difference).toBeNull();
  expect(proof.rows).toBe(rows.length);
  expect(proof.erased.length).toBeGreaterThan(0);
});

test("D10: a crash between the findings and the erasure is made good by the next process", async () => {
  const inner = createMemoryStore();
  const stuck = shared({
    ...inner,
    commit: (commit) =>
      commit.trees.some((tree) => tree.erased.length > 0) ? new Promise(() => undefined) : inner.commit(commit),
  });
  const channel = createMemoryChannel();
  const errand = await openUnclosed(stuck);
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await eventsUntil(errand, agent.id, (event) => event.facts.some((fact) => fact.type === "erasure-asked"));
  expect(await texts(inner, agent.id)).toContain("SECRET TWO");
  const second = await openTestErrand({ parent: () => say("told"), child }, { store: shared(inner) });
  expect(second.errand.recovered).toBe(1);
  await erased(second.errand, agent.id);
  expect(await texts(inner, agent.id)).not.toContain("SECRET");
});

test("D10: a run with an undelivered outcome keeps its texts", async () => {
  const store = shared();
  const gate = Promise.withResolvers<void>();
  const { errand } = await openTestErrand(
    {
      parent: parent(),
      child: async (request, situation) => {
        await gate.promise;
        return typeof child === "function" ? child(request, situation) : say("");
      },
    },
    { store },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  await agent.close();
  gate.resolve();
  await eventsUntil(errand, agent.id, (event) => event.facts.some((fact) => fact.type === "run-undeliverable"));
  expect(await texts(store, agent.id)).toContain("SECRET TWO");
  const [run] = await errand.listRuns();
  expect(run).toMatchObject({ delivery: "undeliverable", undeliverable: "parent-closed" });
  expect(await errand.result(run?.id ?? "")).not.toBe("");
});

const kinds: readonly (readonly [string, Script, string])[] = [
  ["an error", () => fail({ message: "no credit" }), 'failed: \\"no credit\\"'],
  [
    "a message for the user",
    byContext([callTool("send_user_message", { text: "WORDS FOR THE USER" }), report("the findings"), say("done")]),
    "WORDS FOR THE USER",
  ],
  ["an earlier report", byContext([report("EARLIER"), report("the findings"), say("done")]), "completed successfully"],
];

test.each(kinds)(
  "D10: after the erasure and a restart the parent's context is as before, %s included",
  async (_name, script, kept) => {
    const store = shared();
    const speak: Script = (_request, { number }) =>
      number === 1 ? startRuns(startCall("errand", { cleanup: "delete" })) : say(`answer ${number}`);
    const first = await openTestErrand({ parent: speak, child: script }, { store });
    const agent = await first.errand.openAgent();
    await agent.postAndAwait("go");
    await erased(first.errand, agent.id);
    await agent.postAndAwait("still there?");
    await first.errand.close();
    const before = parentRequests(first.models).at(-1)?.messages ?? [];
    const second = await openTestErrand({ parent: () => say("yes"), child: script }, { store });
    await (await second.errand.agent(agent.id)).postAndAwait("and now?");
    const after = parentRequests(second.models).at(-1)?.messages ?? [];
    expect(after.slice(0, before.length)).toEqual(before);
    expect(requestJson(parentRequests(second.models).at(-1))).toContain(kept);
  },
);

test("D10: erasing the salvaged words of a run with a passed deadline leaves the journal intact", async () => {
  const world = createTestWorld();
  const begin = startRuns({
    ...startCall("errand", { cleanup: "delete" }),
    input: { task: "x", cleanup: "delete", timeout_seconds: 30 },
  });
  const hanging = byContext([
    callTools([{ name: "look", input: { secret: "SECRET ONE" } }], { text: "the words" }),
    hang(),
  ]);
  const { errand } = await openTestErrand({ parent: [begin, say("started"), say("told")], child: hanging }, { world });
  const agent = await errand.openAgent({ channel: createMemoryChannel() });
  await agent.post("go");
  await eventsUntil(errand, agent.id, (event) => event.facts.some((fact) => fact.type === "tool-finished"));
  await world.advance(31_000);
  await erased(errand, agent.id);
  const [run] = await errand.listRuns();
  expect(run).toMatchObject({ status: "timeout", report: "salvaged" });
  expect(await errand.result(run?.id ?? "")).toBe("the words");
  expect((await errand.replay(agent.id)).difference).toBeNull();
});
