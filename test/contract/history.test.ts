import { join } from "node:path";
import { expect, test } from "vitest";
import { byContext, callTool, createMemoryChannel, hang, say } from "../../src/testing/index.ts";
import { NUDGE_TOOL, NUDGE_USER_MESSAGE } from "../../src/core/text/prompts/nudges.ts";
import { eventsUntilFacts } from "../support/tree-facts.ts";
import { openTestErrand, temporaryFolder } from "../support/test-errand.ts";

const reporting = byContext([callTool("send_agent_message", { text: "found it" }), say("done")]);

test("D8: the user's history has the user's and the agent's messages; announcements are shown on request", async () => {
  const parent = byContext([
    callTool("start_background_agent", { task: "x" }),
    say("I started it."),
    say("It is done."),
  ]);
  const { errand } = await openTestErrand({ parent, child: reporting });
  const channel = createMemoryChannel();
  const agent = await errand.openAgent({ channel });
  await agent.post("please do x");
  await channel.received(2);
  expect((await agent.history()).map(({ from, text }) => [from, text])).toEqual([
    ["user", "please do x"],
    ["agent", "I started it."],
    ["agent", "It is done."],
  ]);
  const shown = await agent.history({ internal: true });
  expect(shown.map((item) => item.from)).toEqual(["user", "agent", "internal", "agent"]);
  expect(shown[2]?.text).toContain("found it");
});

test("D8: history restored after a restart is intact when the first turn is an internal one", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const first = await openTestErrand({ parent: [say("Your run has ended.")], child: reporting }, { store });
  const channel = createMemoryChannel();
  const agent = await first.errand.openAgent({ channel });
  await agent.spawn({ task: "x" });
  await channel.received(1);
  await first.errand.close();
  const second = await openTestErrand({ parent: [say("You are welcome.")], child: reporting }, { store });
  const again = await second.errand.agent(agent.id);
  await again.postAndAwait("thank you");
  expect((await again.history()).map(({ from, text }) => [from, text])).toEqual([
    ["agent", "Your run has ended."],
    ["user", "thank you"],
    ["agent", "You are welcome."],
  ]);
  const roles = second.models.requests.at(-1)?.messages.map((message) => message.role);
  expect(roles).toEqual(["user", "assistant", "user"]);
});

test("B5, C2: a nudge is hidden from the user's history, and shown on request", async () => {
  const { errand } = await openTestErrand({
    parent: byContext([
      callTool("start_background_agent", { task: "x" }),
      say("started"),
      say("NO_REPLY"),
      say("A note for you."),
      say("NO_REPLY"),
    ]),
    child: byContext([
      callTool("send_user_message", { text: "note" }),
      callTool("send_agent_message", { text: "r" }),
      say("end"),
    ]),
  });
  const channel = createMemoryChannel();
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await channel.received(2);
  const texts = (await agent.history()).map((item) => item.text);
  expect(texts).toEqual(["go", "started", "A note for you."]);
  expect((await agent.history({ internal: true })).map((item) => item.text)).toContainEqual(
    expect.stringContaining(NUDGE_USER_MESSAGE),
  );
});

test("D8: a child's history shows its task and its replies on request, and nothing to a user without", async () => {
  const { errand } = await openTestErrand({
    parent: byContext([
      callTool("start_background_agent", { task: "count", context: "in src" }),
      say("started"),
      hang(),
    ]),
    child: byContext([callTool("look", { at: "src" }), say("I counted."), hang()]),
  });
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(errand, agent.id, "nudge-given");
  const [run] = await errand.listRuns();
  const child = await errand.agent(run?.agent ?? "");
  expect(await child.history()).toEqual([]);
  expect((await child.history({ internal: true })).map(({ from, text }) => [from, text])).toEqual([
    ["internal", "count\n\nContext:\nin src"],
    ["internal", '[look {"at":"src"}]'],
    ["internal", "I counted."],
    ["internal", NUDGE_TOOL],
  ]);
});
