/** `data` of the caller: recorded with the tree, given to all of its tools, seen by no model. */

import { join } from "node:path";
import { expect, test } from "vitest";
import { type Tool, type ToolContext } from "../../src/index.ts";
import { byContext, callTool, hang, say } from "../../src/testing/index.ts";
import { parentRequests } from "../support/model-requests.ts";
import { callSubagent, gate, report } from "../support/scripted-replies.ts";
import { lookTool, openTestErrand, temporaryFolder } from "../support/test-errand.ts";

const session = { user: "u-1", scopes: ["read", { deep: null }] };

/** A tool that notes the data of each call, and a list of them. */
function noting(run: (context: ToolContext) => void = () => undefined): { tool: Tool; seen: unknown[] } {
  const seen: unknown[] = [];
  const tool = lookTool(async (_input, context) => {
    seen.push(structuredClone(context.data));
    run(context);
    return { text: "saw it", failed: false };
  });
  return { tool, seen };
}

const parent = byContext([callTool("look", {}), callSubagent("deeper"), say("done")]);
const child = byContext([callTool("look", {}), report("found", { final: true })]);

test("tools of the agent and of its children get the caller's data, and no model sees it", async () => {
  const { tool, seen } = noting();
  const { errand, models } = await openTestErrand({ parent, child }, { tools: [tool] });
  const { tree } = await errand.run("go", { data: session });
  expect(seen).toEqual([session, session]);
  expect(JSON.stringify(parentRequests(models))).not.toContain("u-1");
  expect((await errand.replay(tree)).difference).toBeNull();
});

test("start, openAgent and a typed task take data too; without it tools get null", async () => {
  const { tool, seen } = noting();
  const typed = byContext([
    callTool("look", {}),
    callTool("send_agent_message", { text: "x", data: { city: "Rome" }, final: true }),
  ]);
  const { errand } = await openTestErrand(
    { parent: byContext([callTool("look", {}), say("done")]), child: typed },
    { tools: [tool] },
  );
  await (await errand.start("go", { data: 1 })).reply();
  await (await errand.openAgent({ data: ["two"] })).ask("go");
  await errand.run("go", { data: "three", output: { type: "object" } });
  await errand.run("go");
  expect(seen).toEqual([1, ["two"], "three", null]);
});

test("a call has a copy of the data: what a tool changes reaches no other call", async () => {
  const { tool, seen } = noting(({ data }) => (data as { scopes: string[] }).scopes.push("write"));
  const { errand } = await openTestErrand({ parent, child }, { tools: [tool] });
  await errand.run("go", { data: { scopes: ["read"] } });
  expect(seen).toEqual([{ scopes: ["read"] }, { scopes: ["read"] }]);
});

test("a later process gives its tools the recorded data, also from a fork", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const waiting = gate();
  const first = await openTestErrand({ parent: [hang()] }, { store });
  const agent = await first.errand.openAgent({ key: "k", data: session });
  await agent.post("go");
  await first.errand.close({ withinMs: 0 });
  const { tool, seen } = noting(() => waiting.open());
  const second = await openTestErrand(
    { parent: byContext([callTool("look", {}), say("done")]) },
    { store, tools: [tool] },
  );
  await waiting.passed;
  await (await second.errand.openAgent({ key: "k", data: session })).settled();
  const fork = await second.errand.fork(agent.id, { at: 1 });
  await fork.ask("go");
  expect(seen).toEqual([session, session]);
  expect((await second.errand.replay(agent.id)).difference).toBeNull();
});

test("a key that comes back with other data is refused; the order of names is no difference", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const scripts = { parent: byContext([say("done")]) };
  const { errand } = await openTestErrand(scripts, { store });
  const one = await errand.run("go", { key: "k", data: { a: 1, b: 2 } });
  expect(await errand.run("go", { key: "k", data: { b: 2, a: 1 } })).toEqual(one);
  for (const data of [{ a: 1, b: 3 }, undefined])
    await expect(errand.run("go", { key: "k", data })).rejects.toMatchObject({ code: "id-reused" });
  await errand.openAgent({ key: "talk", data: 1 });
  await errand.close();
  const later = await openTestErrand(scripts, { store });
  expect(await later.errand.run("go", { key: "k", data: { a: 1, b: 2 } })).toEqual(one);
  await expect(later.errand.openAgent({ key: "talk", data: 2 })).rejects.toMatchObject({ code: "id-reused" });
  await expect(later.errand.start("go", { key: "talk", data: 2 })).rejects.toMatchObject({ code: "id-reused" });
});

test("a secret in the data is not recorded, and the key still names the same task", async () => {
  const { tool, seen } = noting();
  const { errand } = await openTestErrand(
    { parent: byContext([callTool("look", {}), say("done")]) },
    { tools: [tool], secrets: ["hunter2hunter2"] },
  );
  const data = { token: "hunter2hunter2" };
  const one = await errand.run("go", { key: "k", data });
  expect(await errand.run("go", { key: "k", data })).toEqual(one);
  expect(JSON.stringify(seen)).not.toContain("hunter2");
});

test("data that is no JSON, or too much of it, is refused before anything begins", async () => {
  const { errand } = await openTestErrand({ parent: byContext([say("done")]) });
  await expect(errand.run("go", { data: { at: new Date(0) } })).rejects.toMatchObject({ code: "usage" });
  await expect(errand.run("go", { data: 1n })).rejects.toMatchObject({ code: "usage" });
  await expect(errand.run("go", { data: "x".repeat(65_535) })).rejects.toMatchObject({ code: "usage" });
  await expect(errand.run("go", { data: "x".repeat(65_534) })).resolves.toMatchObject({ text: "done" });
  expect(await errand.listTrees()).toHaveLength(1);
});
