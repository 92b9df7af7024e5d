import { expect, test } from "vitest";
import { byContext, hang, say } from "../../src/testing/index.ts";
import { requestText } from "../support/model-requests.ts";
import { report } from "../support/scripted-replies.ts";
import { openTestErrand } from "../support/test-errand.ts";

test("I4: the outcome of a run with announce none is read by its caller, and no model is told", async () => {
  const { errand, models } = await openTestErrand({
    parent: byContext([say("hello"), say("hello again")]),
    child: byContext([report("found it"), say("done")]),
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("hi");
  const run = await agent.spawn({ task: "look", announce: "none" });
  expect(await run.outcome()).toMatchObject({ status: "ok", summary: "found it", error: null });
  expect(await errand.getRun(run.id)).toMatchObject({ state: "ended", delivery: "returned" });
  await agent.postAndAwait("still there?");
  const asked = models.model("scripted/parent").requests;
  expect(asked).toHaveLength(2);
  expect(requestText(asked[1])).not.toContain("found it");
  expect(requestText(asked[1])).not.toContain(run.id);
  expect((await errand.replay(agent.id)).difference).toBeNull();
});

test("D11: a run with announce none is not listed as running to the agent's model", async () => {
  const { errand, models } = await openTestErrand({ parent: byContext([say("hello")]), child: () => hang() });
  const agent = await errand.openAgent();
  const run = await agent.spawn({ task: "look", announce: "none" });
  await agent.postAndAwait("hi");
  expect(requestText(models.model("scripted/parent").requests[0])).not.toContain(run.id);
});
