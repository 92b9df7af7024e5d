import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { DefinitionText } from "../../src/core/values/definition.ts";
import { asTreeId } from "../../src/core/values/ids.ts";
import { bodyRead, headRead } from "../../src/core/journal/row.ts";
import { treeNew, treeSource, treeStep } from "../../src/core/tree.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { byContext, callTool, callTools, createMemoryChannel, say } from "../../src/testing/index.ts";
import { openTestErrand } from "../support/test-errand.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");

test("I20: replay builds every request of a model byte for byte, with the lines about open children", async () => {
  const store = createMemoryStore();
  const start = (task: string) => ({ name: "start_background_agent", input: { task } });
  const { errand, models } = await openTestErrand(
    {
      parent: byContext([
        callTools([start("one"), start("two"), start("three")]),
        callTool("list_runs", {}),
        say("they are at work"),
        say("all done"),
      ]),
      child: byContext([callTool("look", {}), callTool("send_agent_message", { text: "found" }), say("end")]),
    },
    { store: { ...store, close: async () => {} } },
  );
  const channel = createMemoryChannel();
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await channel.received(2);
  const texts = new Map<string, DefinitionText>();
  const tree = treeNew(
    treeSource(sha256, (hash) => texts.get(hash) ?? { name: "", description: "", prompt: "", tools: [] }),
  );
  const built: string[] = [];
  for (const row of await store.rows(asTreeId(agent.id), 1, 1_000)) {
    for (const [, hash = ""] of row.head.matchAll(/"hash":"([A-Za-z0-9_-]{43})"/g)) {
      const text = await store.blob(asTreeId(agent.id), hash);
      if (text !== null) texts.set(hash, JSON.parse(text) as DefinitionText);
    }
    const { at, seed = "", slots = 0, input, texts: count = 0 } = headRead(row.head);
    const { salt, texts: own } = bodyRead(row.body);
    const { requests, row: again } = treeStep(tree, { at, seed, slots, input, texts: own.slice(0, count) }, salt);
    expect(again).toEqual(row);
    built.push(...[...requests.values()].map((request) => JSON.stringify(request)));
  }
  const sent = models.requests.map(({ model, system, tools, messages }) =>
    JSON.stringify({ model, system, tools, messages }),
  );
  expect(sent.some((request) => request.includes("running"))).toBe(true);
  expect(built.toSorted()).toEqual(sent.toSorted());
});
