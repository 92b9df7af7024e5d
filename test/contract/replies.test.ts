import { expect, test } from "vitest";
import { byContext, callTools, createMemoryChannel, say } from "../../src/testing/index.ts";
import { requestText } from "../support/model-requests.ts";
import { allFacts, eventsNow, factsOfType } from "../support/tree-facts.ts";
import { openTestErrand } from "../support/test-errand.ts";

test.each(["NO_REPLY", "NO_MESSAGE", "  NO_REPLY\n"])(
  "A6: a reply of exactly %j says nothing: recorded as a decision, not streamed, no error",
  async (words) => {
    const channel = createMemoryChannel();
    const { errand } = await openTestErrand({ parent: [say(words), say("visible")] });
    const streamed: string[] = [];
    errand.onText((delta) => streamed.push(delta.text));
    const agent = await errand.openAgent({ channel });
    expect(await agent.postAndAwait("hello")).toEqual({ text: "", silent: true });
    expect(streamed.join("")).toBe("");
    const [ended] = factsOfType(allFacts(await eventsNow(errand, agent.id)), "turn-ended");
    expect(ended).toMatchObject({ outcome: "done", silent: true });
    await agent.postAndAwait("and now?");
    expect((await channel.received(1)).map((message) => message.text)).toEqual(["visible"]);
    expect(streamed.join("")).toBe("visible");
  },
);

test.each(["I have nothing more. NO_REPLY", "NO_REPLY is what I would say", "NO_REPLYS", "no_reply"])(
  "A6: text that merely holds the word keeps its content: %j",
  async (words) => {
    const channel = createMemoryChannel();
    const { errand } = await openTestErrand({ parent: [say(words)] });
    const streamed: string[] = [];
    errand.onText((delta) => streamed.push(delta.text));
    const agent = await errand.openAgent({ channel });
    expect(await agent.postAndAwait("hello")).toEqual({ text: words, silent: false });
    expect((await channel.received(1))[0]?.text).toBe(words);
    expect(streamed.join("")).toBe(words);
  },
);

test("A6: NO_REPLY beside a tool call says nothing, and the call is made", async () => {
  const channel = createMemoryChannel();
  const { errand, models } = await openTestErrand({
    parent: byContext([callTools([{ name: "look", input: {} }], { text: "NO_REPLY" }), say("seen")]),
  });
  const agent = await errand.openAgent({ channel });
  await agent.postAndAwait("hello");
  expect((await channel.received(1)).map((message) => message.text)).toEqual(["seen"]);
  expect(requestText(models.requests[1])).toContain("saw it");
});

test("A7: with say turned on, every block is one message, and nothing else is sent", async () => {
  const channel = createMemoryChannel();
  const words = "thinking <say>first</say> aside <SAY tone='x'> second </SAY> rest";
  const { errand, models } = await openTestErrand(
    { parent: byContext([say(words), say("no block at all"), say("<say>third</say>")]) },
    { parent: { say: true } },
  );
  const agent = await errand.openAgent({ channel });
  await agent.postAndAwait("one");
  await agent.postAndAwait("two");
  await agent.postAndAwait("three");
  expect((await channel.received(3)).map((message) => message.text)).toEqual(["first", "second", "third"]);
  expect(requestText(models.requests[2])).toContain(words);
  expect(requestText(models.requests[2])).toContain("no block at all");
});

test("A7: without say turned on, a block is ordinary text", async () => {
  const channel = createMemoryChannel();
  const { errand } = await openTestErrand({ parent: [say("a <say>b</say> c")] });
  const agent = await errand.openAgent({ channel });
  await agent.postAndAwait("hello");
  expect((await channel.received(1)).map((message) => message.text)).toEqual(["a <say>b</say> c"]);
});

test("A6: a last line that is the word is missing for the user: in channel, stream, answer and history", async () => {
  const channel = createMemoryChannel();
  const { errand } = await openTestErrand({ parent: [say("The road is open.\n\nNO_REPLY")] });
  const agent = await errand.openAgent({ channel });
  const streamed: string[] = [];
  errand.onText((delta) => streamed.push(delta.text));
  expect(await agent.postAndAwait("go")).toEqual({ text: "The road is open.", silent: false });
  expect((await channel.received(1)).map(({ text }) => text)).toEqual(["The road is open."]);
  expect(streamed.join("")).toBe("The road is open.");
  expect((await agent.history()).at(-1)?.text).toBe("The road is open.");
});
