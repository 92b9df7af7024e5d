import { expect, test } from "vitest";
import type { ContextMessage, ModelRequest } from "../../src/index.ts";
import { createMemoryChannel, fail, hang, say, type Script } from "../../src/testing/index.ts";
import { newestUserText, occurrences, parentRequests, requestJson, userText } from "../support/model-requests.ts";
import { report, startCall, startRuns } from "../support/scripted-replies.ts";
import { acceptedFacts, eventsNow } from "../support/tree-facts.ts";
import { openTestErrand } from "../support/test-errand.ts";
import { createTestWorld, type TestWorld } from "../support/test-world.ts";

/** A child named by the seconds that it takes: `7`, or `7 more words`. Reports its task; `hang` never ends. */
function taking(world: TestWorld): Script {
  return async (_request, { task, replies }) => {
    if (task.startsWith("hang")) return hang();
    if (replies > 0) return say("done");
    await new Promise<void>((resolve) => void world.after(Number.parseInt(task, 10) * 1_000, resolve));
    return report(`result of <${task}>`);
  };
}

async function open(parent: Script, limits = {}) {
  const world = createTestWorld();
  const channel = createMemoryChannel();
  const { errand, models } = await openTestErrand({ parent, child: taking(world) }, { world, limits });
  const agent = await errand.openAgent({ channel });
  const said = (): string[] => channel.messages.map((message) => message.text);
  return { world, channel, errand, models, agent, said };
}

const texts = (request: ModelRequest | undefined): string[] =>
  (request?.messages ?? []).filter((message) => message.role === "user").map(userText);
const spoken = (message: ContextMessage | undefined): string =>
  message?.role === "assistant"
    ? message.parts.map((part) => (part.type === "text" ? part.text : part.type)).join()
    : "";

test("D3: the runs of one turn are announced together, in spawn order, when the last of them has ended", async () => {
  const { world, agent, models, said } = await open([
    startRuns(startCall("30 a"), startCall("10 b")),
    startRuns(startCall("20 c")),
    say("started"),
    say("told"),
  ]);
  await agent.post("go");
  await world.advance(29_000);
  expect(said()).toEqual(["started"]);
  await world.advance(2_000);
  expect(said()).toEqual(["started", "told"]);
  const text = newestUserText(parentRequests(models)[3]);
  const order = ["30 a", "10 b", "20 c"].map((task) => text.indexOf(`result of <${task}>`));
  expect(order.every((at) => at > 0)).toBe(true);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
});

test("D3: a spawn of a later turn does not postpone an earlier batch", async () => {
  const { world, agent, models, said } = await open([
    startRuns(startCall("10 a"), startCall("20 b")),
    say("started"),
    startRuns(startCall("50 c")),
    say("another"),
    say("two are done"),
    say("the third is done"),
  ]);
  await agent.post("go");
  await world.advance(15_000);
  await agent.post("one more");
  await world.advance(10_000);
  expect(said()).toEqual(["started", "another", "two are done"]);
  await world.advance(60_000);
  expect(said()).toEqual(["started", "another", "two are done", "the third is done"]);
  const all = parentRequests(models).slice(4).map(newestUserText);
  expect(all[0]).toContain("result of <10 a>");
  expect(all[0]).toContain("result of <20 b>");
  expect(all[1]).toContain("result of <50 c>");
  expect(all[1]).not.toContain("result of <10 a>");
});

test("D3: the runs of a named group are one batch across turns", async () => {
  const { world, agent, models, said } = await open([
    startRuns(startCall("30 a", { group: "g" })),
    say("one"),
    startRuns(startCall("40 b", { group: "g" })),
    say("two"),
    say("told"),
  ]);
  await agent.post("go");
  await world.advance(5_000);
  await agent.post("more");
  await world.advance(30_000);
  expect(said()).toEqual(["one", "two"]);
  await world.advance(30_000);
  expect(said()).toEqual(["one", "two", "told"]);
  expect(newestUserText(parentRequests(models).at(-1))).toContain("result of <30 a>");
  expect(newestUserText(parentRequests(models).at(-1))).toContain("result of <40 b>");
});

test("D3: after the barrier of 300 s results name the stragglers; each straggler follows at its end", async () => {
  const { world, agent, models, said } = await open([
    startRuns(startCall("10 a"), startCall("400 b"), startCall("500 c")),
    say("started"),
    say("one"),
    say("two"),
    say("three"),
  ]);
  await agent.post("go");
  await world.advance(299_000);
  expect(said()).toEqual(["started"]);
  await world.advance(2_000);
  expect(said()).toEqual(["started", "one"]);
  const first = newestUserText(parentRequests(models)[2]);
  expect(first).toContain("result of <10 a>");
  for (const name of ["400 b", "500 c"]) expect(first).toMatch(new RegExp(`${name}.*still running`));
  await world.advance(300_000);
  expect(said()).toEqual(["started", "one", "two", "three"]);
  const later = parentRequests(models).slice(2).map(newestUserText);
  for (const task of ["10 a", "400 b", "500 c"])
    expect(later.reduce((count, text) => count + occurrences(text, `result of <${task}>`), 0)).toBe(1);
  expect(later[1]).not.toContain("still running");
});

test("D8: after a good turn one short line with names, status and handle replaces the announcement", async () => {
  const { world, agent, models, errand, said } = await open([
    startRuns(startCall("1 a", { label: "the errand" })),
    say("started"),
    startRuns(startCall("hang up", { label: "the next" })),
    say("It is done, and I went on."),
    say("next answer"),
  ]);
  await agent.post("go");
  await world.advance(2_000);
  expect(said()).toEqual(["started", "It is done, and I went on."]);
  await agent.post("thanks");
  await world.advance(100);
  const [first, second] = await errand.listRuns();
  const messages = parentRequests(models).at(-1)?.messages ?? [];
  const at = messages.findIndex((message) => spoken(message) === "It is done, and I went on.");
  const line = userText(messages[at - 1]);
  expect(line.split("\n")).toHaveLength(1);
  for (const part of ["the errand", first?.id, "completed successfully", "read_result", "the next", second?.id])
    expect(line).toContain(part);
  expect(line.length).toBeLessThan(400);
  expect(requestJson(parentRequests(models).at(-1))).not.toContain("result of <1 a>");
  expect(userText(messages[at + 1])).toMatch(/^thanks/);
});

test("D8: NO_REPLY leaves only the short line, and nothing goes to the channel", async () => {
  const { world, agent, models, said } = await open([
    startRuns(startCall("1 a")),
    say("started"),
    say(" NO_REPLY\n"),
    say("next answer"),
  ]);
  await agent.post("go");
  await world.advance(2_000);
  await agent.post("and?");
  await world.advance(100);
  expect(said()).toEqual(["started", "next answer"]);
  const request = parentRequests(models).at(-1);
  expect(requestJson(request)).not.toContain("NO_REPLY");
  expect(requestJson(request)).not.toContain("result of <1 a>");
  expect(newestUserText(request)).toMatch(/"1 a".*completed successfully.*\n\nand\?$/);
});

test("D8: what joined the internal turn besides the announcement stays in the context after it", async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const world = createTestWorld();
  const { errand, models } = await openTestErrand(
    {
      parent: async (_request, { number }) => {
        if (number === 1) return startRuns(startCall("5 a"));
        await gates[number - 2]?.promise;
        return say(`answer ${number}`);
      },
      child: taking(world),
    },
    { world },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(6_000);
  await agent.post("a silent fact", { kind: "system", silent: true });
  gates[0]?.resolve();
  await world.advance(100);
  const announced = parentRequests(models)[2];
  expect(newestUserText(announced)).toContain("a silent fact");
  expect(newestUserText(announced)).toContain("result of <5 a>");
  await agent.post("mind the gap", { kind: "steer" });
  gates[1]?.resolve();
  await world.advance(100);
  await agent.post("thanks");
  await world.advance(100);
  const last = parentRequests(models).at(-1);
  for (const text of ["a silent fact", "mind the gap"]) expect(occurrences(requestJson(last), text)).toBe(1);
  expect(requestJson(last)).not.toContain("result of <5 a>");
  const roles = ["user", "assistant", "tool", "assistant", "user", "assistant", "user"];
  expect(last?.messages.map((message) => message.role)).toEqual(roles);
});

test("D9, scenario 11: a failed announcement call is retried after 1, 4 and 16 s, with the same item", async () => {
  const { world, agent, models, said } = await open((_request, { number }) => {
    if (number === 1) return startRuns(startCall("1 a"));
    if (number === 2) return say("started");
    return number < 6 ? fail() : say("told at last");
  });
  await agent.post("go");
  const seen: number[] = [];
  // A wait is up to a quarter longer: to before the earliest moment of the next attempt, and past the latest.
  for (const wait of [1_100, 800, 500, 3_400, 1_500, 14_400, 5_600]) {
    await world.advance(wait);
    seen.push(parentRequests(models).length);
  }
  expect(seen).toEqual([3, 3, 4, 4, 5, 5, 6]);
  expect(said()).toEqual(["started", "told at last"]);
  const asked = parentRequests(models).slice(2).map(requestJson);
  expect(new Set(asked).size).toBe(1);
});

test("D9: after the last attempt it is blocked and stays; the next turn carries the same item", async () => {
  const { world, agent, models, errand, said } = await open((_request, { number }) => {
    if (number === 1) return startRuns(startCall("1 a"));
    if (number === 2) return say("started");
    return number < 7 ? fail() : say(`answer ${number}`);
  });
  await agent.post("go");
  await world.advance(60_000);
  const events = await eventsNow(errand, agent.id);
  expect(acceptedFacts(events, "announcement-blocked")).toHaveLength(1);
  expect((await errand.listRuns())[0]?.delivery).toBe("placed");
  await agent.post("what came of it?");
  await world.advance(100);
  const carried = parentRequests(models).at(-1);
  expect(occurrences(requestJson(carried), "result of <1 a>")).toBe(1);
  expect(newestUserText(carried)).toContain("what came of it?");
  expect(said()).toEqual(["started", "answer 7"]);
  await agent.post("and then?");
  await world.advance(100);
  const after = parentRequests(models).at(-1);
  expect(requestJson(after)).not.toContain("result of <1 a>");
  expect(texts(after).join("\n")).toMatch(/"1 a".*completed successfully/);
  expect(requestJson(after)).toContain("what came of it?");
  expect(requestJson(after)).toContain("answer 7");
  expect(acceptedFacts(await eventsNow(errand, agent.id), "announcement-queued")).toHaveLength(1);
});
