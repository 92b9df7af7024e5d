/** Without a model the library says what is missing; it never falls back to a model that nobody chose. */

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createErrand, type Errand, type ErrandOptions } from "../../src/index.ts";
import { createScriptedModels, say } from "../../src/testing/index.ts";
import { temporaryFolder } from "../support/test-errand.ts";

async function open(options: ErrandOptions): Promise<Errand> {
  const errand = await createErrand(options);
  onTestFinished(() => errand.close({ withinMs: 0 }));
  return errand;
}

const models = [createScriptedModels({ "scripted/parent": () => say("Hello.") })];

test("without a model no agent is started, and the error says what to give", async () => {
  const errand = await open({ store: "memory" });
  const refused = {
    code: "model-missing",
    message: expect.stringMatching(
      /^No model is given for the agent "(orchestrator|worker)", and no key is set\.$/,
    ) as string,
    remedy: expect.stringContaining("createErrand({ model: ") as string,
  };
  await expect(errand.start("hello")).rejects.toMatchObject(refused);
  await expect(errand.openAgent({ agent: "worker" })).rejects.toMatchObject(refused);
  expect(await errand.listTrees()).toEqual([]);
});

test("an agent with a model of its own needs no other; built-in agents without one are left out", async () => {
  const agents = { orchestrator: { prompt: "You help.", model: "scripted/parent" } };
  const errand = await open({ store: "memory", models, agents });
  const { agent, reply } = await errand.start("hello");
  expect((await reply()).text).toBe("Hello.");
  await expect(agent.spawn({ task: "look", agent: "worker" })).rejects.toThrow('no agent definition "worker"');
});

test("a model without a provider is unknown", async () => {
  await expect(createErrand({ store: "memory", model: "scripted/parent" })).rejects.toMatchObject({
    code: "model-unknown",
    message: expect.stringContaining('There is no provider for the model "scripted/parent"') as string,
  });
});

test("trees of the store go on with the models that they recorded, and are not forked", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const first = await createErrand({ store, models, model: "scripted/parent" });
  const { agent, reply } = await first.start("hello");
  await reply();
  await first.close();
  const second = await open({ store, models });
  expect((await (await second.agent(agent.id)).postAndAwait("and again")).text).toBe("Hello.");
  await expect(second.fork(agent.id, { at: 1 })).rejects.toMatchObject({ code: "model-missing" });
  expect((await second.replay(agent.id)).difference).toBeNull();
});
