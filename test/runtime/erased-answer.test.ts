import { expect, test } from "vitest";
import { callTool, say } from "../../src/testing/index.ts";
import { eventsUntil, openTestErrand } from "../support/test-errand.ts";

test("A2: asking again for an answer that was erased with its run is a typed error, never an empty answer", async () => {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const { errand } = await openTestErrand(
    {
      parent: () => say("ok"),
      child: async (_request, { task, replies }) => {
        if (task === "deeper") {
          await answered.promise;
          return replies === 0 ? callTool("send_agent_message", { text: "deep" }) : say("end");
        }
        if (replies === 0) {
          await asked.promise;
          return callTool("start_background_agent", { task: "deeper" });
        }
        // The turn that takes the message ends before the child has reported.
        if (replies === 1) return say("my answer");
        return replies === 2 ? callTool("send_agent_message", { text: "found" }) : say("end");
      },
    },
    { limits: { maxDepth: 2 } },
  );
  const agent = await errand.openAgent();
  const run = await agent.spawn({ task: "x", cleanup: "delete" });
  const child = await errand.agent(run.agent);
  const message = { id: "ask", kind: "steer" } as const;
  await child.post("and you?", message);
  asked.resolve();
  expect((await child.postAndAwait("and you?", message)).text).toBe("my answer");
  answered.resolve();
  await eventsUntil(errand, agent.id, (event) => event.facts.some((fact) => fact.type === "texts-erased"));
  await expect(child.postAndAwait("and you?", message)).rejects.toMatchObject({
    code: "turn-failed",
    details: { reason: "erased" },
  });
});

test("A2: the report of a child answers a message after its other words were erased", async () => {
  const gate = Promise.withResolvers<void>();
  const { errand } = await openTestErrand({
    parent: () => say("ok"),
    child: async (_request, { replies }) => {
      if (replies === 0) await gate.promise;
      return replies === 0 ? callTool("send_agent_message", { text: "found" }) : say("my goodbye");
    },
  });
  const agent = await errand.openAgent();
  const run = await agent.spawn({ task: "x", cleanup: "delete" });
  const child = await errand.agent(run.agent);
  await child.post("and you?", { id: "ask", kind: "steer" });
  gate.resolve();
  await eventsUntil(errand, agent.id, (event) => event.facts.some((fact) => fact.type === "texts-erased"));
  expect((await child.postAndAwait("and you?", { id: "ask", kind: "steer" })).text).toBe("found");
});
