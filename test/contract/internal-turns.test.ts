/** Rule D8: what an internal turn leaves in the context of its agent. */

import { expect, test } from "vitest";
import { callTool, createMemoryChannel, type ScriptedReply, say } from "../../src/testing/index.ts";
import { requestText } from "../support/model-requests.ts";
import { eventsUntil, openTestErrand, turnsEnded } from "../support/test-errand.ts";

/** Words beside a call of the tool `look`. */
function lookSaying(text: string): ScriptedReply {
  return {
    kind: "reply",
    parts: [
      { type: "text", text },
      { type: "tool-call", id: "look-1", name: "look", input: {} },
    ],
  };
}

test("D8: what the user saw beside a tool call of the internal turn stays in the context, in order", async () => {
  const channel = createMemoryChannel();
  const { errand, models } = await openTestErrand({
    parent: [
      callTool("start_background_agent", { task: "x" }),
      say("started"),
      lookSaying("The bridge is open; I check the road."),
      say("The road is open too.\nNO_REPLY"),
      say("yes"),
    ],
    child: [callTool("send_agent_message", { text: "open", final: true })],
  });
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await eventsUntil(errand, agent.id, turnsEnded(2));
  await agent.postAndAwait("really?");
  const said = ["The bridge is open; I check the road.", "The road is open too."];
  expect((await channel.received(4)).map(({ text }) => text)).toEqual(["started", ...said, "yes"]);
  const last = models.model("scripted/parent").requests.at(-1);
  const replies = (last?.messages ?? []).flatMap((message) => (message.role === "assistant" ? [message.parts] : []));
  expect(replies.at(-1)).toEqual(said.map((text) => ({ type: "text", text })));
  expect(requestText(last)).not.toContain("saw it");
});
