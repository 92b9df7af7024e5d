import { expect, test } from "vitest";
import { callTool, say } from "../../src/testing/index.ts";
import { eventsUntil, openTestErrand } from "../support/test-errand.ts";

test("A2: asking again for an answer that was erased with its run is a typed error, never an empty answer", async () => {
  const gate = Promise.withResolvers<void>();
  const { errand } = await openTestErrand({
    parent: () => say("ok"),
    child: async (_request, { replies }) => {
      if (replies === 0) await gate.promise;
      return replies === 0 ? callTool("send_agent_message", { text: "found" }) : say("my answer");
    },
  });
  const agent = await errand.openAgent();
  const run = await agent.spawn({ task: "x", cleanup: "delete" });
  const child = await errand.agent(run.agent);
  await child.post("and you?", { id: "ask", kind: "steer" });
  gate.resolve();
  await eventsUntil(errand, agent.id, (event) => event.facts.some((fact) => fact.type === "texts-erased"));
  await expect(child.postAndAwait("and you?", { id: "ask", kind: "steer" })).rejects.toMatchObject({
    code: "turn-failed",
    details: { reason: "erased" },
  });
});
