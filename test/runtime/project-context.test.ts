import { join } from "node:path";
import { expect, test } from "vitest";
import { replayVerdict } from "../../src/index.ts";
import { byContext, callTool, say } from "../../src/testing/index.ts";
import { eventsUntil, openTestErrand, temporaryFolder, turnsEnded } from "../support/test-errand.ts";

const PROJECT = "Run the tests with make. {prompt} stays as it is.";

const delegating = byContext([callTool("subagent", { task: "look", agent: "orchestrator" }), say("done")]);
const reporting = byContext([callTool("send_agent_message", { text: "found" }), say("over")]);

test("a root is told about the project at the end of its prompt; a child of the same definition is not", async () => {
  const { errand, models } = await openTestErrand(
    {
      parent: (request, situation) => {
        const script = request.system.includes("You are a child agent") ? reporting : delegating;
        return typeof script === "function" ? script(request, situation) : say("");
      },
    },
    { projectContext: PROJECT },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const [root, child] = models.requests;
  expect(root?.system.endsWith(`\n\nAbout the project you work in:\n${PROJECT}`)).toBe(true);
  expect(child?.system).toContain("You are a child agent");
  expect(JSON.stringify(child)).not.toContain("make");
  expect(replayVerdict(await errand.replay(agent.id))).toBe("proven");
});

test("what is told is recorded with its tree, once, and replays; without any, nothing is told", async () => {
  const { errand } = await openTestErrand({ parent: [say("hello")] }, { projectContext: PROJECT });
  const agent = await errand.openAgent({ agent: "orchestrator" });
  await agent.postAndAwait("go");
  let exported = "";
  for await (const line of errand.export(agent.id)) exported += `${line}\n`;
  expect(exported.split("Run the tests with make").length - 1).toBe(1);
  const bare = await openTestErrand({ parent: [say("hello")] });
  await (await bare.errand.openAgent()).postAndAwait("go");
  expect(bare.models.requests[0]?.system).not.toContain("About the project");
});

test("a tree goes on with what the project says now, and so does a fork of it", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const parent = [say("first"), say("second"), say("third")];
  const before = await openTestErrand({ parent }, { store, projectContext: "Old rules." });
  const agent = await before.errand.openAgent();
  await agent.postAndAwait("one");
  await before.errand.close();
  const after = await openTestErrand({ parent }, { store, projectContext: "New rules." });
  await (await after.errand.agent(agent.id)).postAndAwait("two");
  expect(after.models.requests[0]?.system).toContain("New rules.");
  const events = await eventsUntil(after.errand, agent.id, turnsEnded(2));
  expect(events.filter(({ facts }) => facts.some(({ type }) => type === "catalog-changed"))).toHaveLength(1);
  await after.errand.close();
  const options = { store, projectContext: "Newest rules.", renewDefinitions: false };
  const forking = await openTestErrand({ parent }, options);
  const fork = await forking.errand.fork(agent.id, { at: 1 });
  await fork.postAndAwait("three");
  expect(forking.models.requests.at(-1)?.system).toMatch(/Newest rules\.$/);
  for (const tree of [agent.id, fork.id]) expect(replayVerdict(await forking.errand.replay(tree))).toBe("proven");
});

test("the built-in researcher has only the tools that are safe to repeat, and the worker has all", async () => {
  const { errand } = await openTestErrand(
    { parent: [say("ok")] },
    {
      model: "scripted/parent",
      agents: {},
      tools: [
        { name: "look", description: "Looks.", schema: {}, safe: true, run: async () => ({ text: "", failed: false }) },
        { name: "push", description: "Acts.", schema: {}, safe: false, run: async () => ({ text: "", failed: false }) },
      ],
    },
  );
  const agent = await errand.openAgent();
  const [opened] = await eventsUntil(errand, agent.id, () => true);
  const catalog = opened?.facts.flatMap((fact) => (fact.type === "tree-opened" ? fact.catalog : [])) ?? [];
  expect(catalog.map(({ name, tools }) => [name, tools.map((tool) => tool.name)])).toEqual([
    ["orchestrator", ["look", "push"]],
    ["worker", ["look", "push"]],
    ["researcher", ["look"]],
  ]);
});
