import { expect, test } from "vitest";
import { callTools, createMemoryChannel, hang, callTool, say } from "../../src/testing/index.ts";
import { createTestWorld } from "../support/test-world.ts";
import { openTestErrand } from "../support/test-errand.ts";

test("D3: when the barrier of a batch passes, what has ended goes out, and the straggler is announced once when it ends", async () => {
  const world = createTestWorld();
  const channel = createMemoryChannel();
  const start = (task: string) => ({ name: "start_background_agent", input: { task, timeout_seconds: 900 } });
  const { errand, models } = await openTestErrand(
    {
      parent: [
        callTools([start("quick"), start("slow")]),
        say("started"),
        say("one is done"),
        say("the other timed out"),
      ],
      child: (_request, { task, replies }) => {
        if (task === "slow") return hang();
        return replies === 0 ? callTool("send_agent_message", { text: "quick result" }) : say("done");
      },
    },
    { world },
  );
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await world.advance(299_000);
  expect(channel.messages.map((message) => message.text)).toEqual(["started"]);
  await world.advance(2_000);
  expect(channel.messages.map((message) => message.text)).toEqual(["started", "one is done"]);
  const told = models.model("scripted/parent").requests.at(-1)?.messages.at(-1);
  expect(told?.role === "user" ? told.text : "").toContain("quick result");
  expect(told?.role === "user" ? told.text : "").toContain("still running");
  await world.advance(600_000);
  expect(channel.messages.map((message) => message.text)).toEqual(["started", "one is done", "the other timed out"]);
});
