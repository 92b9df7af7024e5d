/**
 * Rule A2 for a child: who waits for its answer gets the report of the turn that took the message, else the words of
 * that turn.
 */

import { expect, test } from "vitest";
import { byContext, callTool, fail, hang, say, type Script, type ScriptedReply } from "../../src/testing/index.ts";
import { gate, report } from "../support/scripted-replies.ts";
import { eventsUntilFacts } from "../support/tree-facts.ts";
import { openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const final = (text: string): ScriptedReply => callTool("send_agent_message", { text, final: true });

/** A child whose first reply waits until the test has posted to it. */
async function asking(replies: readonly ScriptedReply[], reporting: "tool" | "tag" = "tool") {
  const posted = gate();
  const script: Script = async (_request, { replies: given }) => {
    if (given === 0) await posted.passed;
    return replies[given] ?? fail();
  };
  const { errand } = await openTestErrand({ parent: () => say("ok"), child: script }, { child: { reporting } });
  const agent = await errand.openAgent();
  const run = await agent.spawn({ task: "x" });
  const child = await errand.agent(run.agent);
  return {
    async answer(kind: "user" | "steer"): Promise<string> {
      await child.post("well?", { id: "m", kind });
      const waiting = child.postAndAwait("well?", { id: "m", kind });
      posted.open();
      return (await waiting).text;
    },
  };
}

test.each([
  ["an ordinary report", [report("the report"), say("leftover")]],
  ["several reports, of which the last counts", [report("first"), report("the report"), say("leftover")]],
  ["a report after a nudge", [say("hm"), report("the report"), say("unused")]],
] as const)("A2: a message into the turn of %s is answered with it", async (_name, replies) => {
  expect(await (await asking(replies)).answer("steer")).toBe("the report");
});

test("A2: a message that makes a final report an ordinary one is answered with the report", async () => {
  expect(await (await asking([final("early"), final("the report")])).answer("steer")).toBe("the report");
});

test("A2: a message of the next turn is answered with the report of that turn", async () => {
  const answered = await asking([report("first"), say("leftover"), report("second"), say("leftover")]);
  expect(await answered.answer("user")).toBe("second");
});

test("A2: a turn without a report answers its message with its own words, not with an older report", async () => {
  const answered = await asking([report("first"), say("leftover"), say("in the north")]);
  expect(await answered.answer("user")).toBe("in the north");
});

test("A2: by tag it is the text in the tag", async () => {
  const tagged = [say("<response>draft</response>"), say("so: <response>found</response> bye")];
  expect(await (await asking(tagged, "tag")).answer("steer")).toBe("found");
});

test("A2: a message that no turn took is not answered with the report of a run that was closed", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand(
    { parent: () => say("ok"), child: byContext([report("the report"), hang()]) },
    { world },
  );
  const agent = await errand.openAgent();
  const run = await agent.spawn({ task: "x", timeoutSeconds: 30 });
  await eventsUntilFacts(errand, agent.id, "run-reported");
  const child = await errand.agent(run.agent);
  await child.post("and the south?", { id: "m" });
  const waiting = child.postAndAwait("and the south?", { id: "m" }).catch((error: unknown) => error);
  await world.advance(31_000);
  expect(await errand.getRun(run.id)).toMatchObject({ status: "ok", report: "tool" });
  expect(await waiting).toMatchObject({ code: "turn-failed" });
});

test("A2, D10: asking again for an erased report gives a typed error, never an empty answer", async () => {
  const posted = gate();
  const { errand } = await openTestErrand({
    parent: () => say("ok"),
    child: async (_request, { replies }) => {
      if (replies === 0) await posted.passed;
      return [report("first"), say("end"), report("second"), say("end")][replies] ?? fail();
    },
  });
  const agent = await errand.openAgent();
  const run = await agent.spawn({ task: "x", cleanup: "delete" });
  const child = await errand.agent(run.agent);
  await child.post("one", { id: "1", kind: "steer" });
  await child.post("two", { id: "2" });
  posted.open();
  await eventsUntilFacts(errand, agent.id, "texts-erased");
  expect((await child.postAndAwait("two", { id: "2" })).text).toBe("second");
  await expect(child.postAndAwait("one", { id: "1", kind: "steer" })).rejects.toMatchObject({
    code: "turn-failed",
    details: { reason: "erased" },
  });
});

test("A2: a message that the closing call was to answer gets the report of its turn", async () => {
  expect(await (await asking([report("the report"), fail({ message: "no credit" })])).answer("steer")).toBe(
    "the report",
  );
});
