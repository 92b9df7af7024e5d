/**
 * Model servers and models whose replies do not end, drip, or are far too long: the call is cut, the turn ends with the
 * reason, memory stays bounded.
 */

import type { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ErrandOptions, Model } from "../../src/index.ts";
import { anthropic } from "../models/wires/anthropic.ts";
import { WIRES } from "../models/wires/index.ts";
import { openaiChat } from "../models/wires/openai-chat.ts";
import type { Wire } from "../models/wires/wire.ts";
import { openWireErrand } from "../models/wires/wire-errand.ts";
import { begin, type Behaviour, type Exchange, openWireServer, refuse, stream } from "../models/wires/wire-server.ts";
import { createTestWorld } from "../support/test-world.ts";
import { eventsUntil, openTestErrand, turnsEnded } from "../support/test-errand.ts";
import { callTool, say } from "../../src/testing/index.ts";

const MEBIBYTE = 1_024 * 1_024;
const PIECE = "all work and no play ".repeat(50);

async function served(wire: Wire, behave: Behaviour, options: Partial<ErrandOptions> = {}) {
  const server = await openWireServer(behave);
  const errand = await openWireErrand(wire, server, options);
  return { errand, server, agent: await errand.openAgent() };
}

/** Writes for as long as somebody reads, as fast as they do. */
async function flood({ response }: Exchange, piece: string, bytes = Number.POSITIVE_INFINITY): Promise<void> {
  let left = bytes;
  while (!response.destroyed && left > 0) {
    left -= piece.length;
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

/** Resolves when more can be written, or nobody reads any more. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

/** The frame that brings more text, without those before it. */
function more(wire: Wire): string {
  return wire.beginning(PIECE).at(-1) ?? "";
}

function failedWith(reason: string, words: RegExp) {
  return { code: "turn-failed", message: expect.stringMatching(words), details: expect.objectContaining({ reason }) };
}

describe.each(WIRES)("$title", (wire) => {
  test("the number of tokens goes to the provider", async () => {
    const { agent, server } = await served(wire, (exchange) => stream(exchange, wire.frames({ text: "Hello." })), {
      limits: { replyTokens: 4_321 },
    });
    await agent.postAndAwait("go");
    expect(server.exchanges[0]?.body).toMatch(
      /"(?:max_tokens|max_output_tokens|max_completion_tokens|maxOutputTokens)":4321\b/,
    );
  });

  test("a stream without end is cut at its bytes, once, and the turn says so", async () => {
    const { agent, server, errand } = await served(wire, async (exchange) => {
      begin(exchange, wire.beginning(PIECE));
      await flood(exchange, more(wire));
    });
    const heard: number[] = [];
    errand.onText(({ text }) => heard.push(text.length));
    await expect(agent.postAndAwait("go")).rejects.toMatchObject(
      failedWith("reply-limit", /longer than 32768 tokens can be and was cut off; limits\.replyTokens/),
    );
    expect(server.exchanges).toHaveLength(1);
    expect(await server.exchanges[0]?.closed).toBe(false);
    expect(heard.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(32_768 * 16);
    expect(await errand.replay(agent.id)).toMatchObject({ difference: null });
  });

  test("a body of 200 MB that is no stream is cut", async () => {
    const { agent, server } = await served(wire, async (exchange) => {
      exchange.response.writeHead(200, { "content-type": "application/json" });
      exchange.response.write('{"choices":[{"message":{"content":"');
      await flood(exchange, PIECE.repeat(60), 200 * MEBIBYTE);
    });
    const before = process.memoryUsage().rss;
    await expect(agent.postAndAwait("go")).rejects.toMatchObject(
      failedWith("reply-limit", /16777216 bytes in one line/),
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(180 * MEBIBYTE);
    expect(server.exchanges).toHaveLength(1);
    expect(await server.exchanges[0]?.closed).toBe(false);
  });

  test("the endless page of a refused request is cut, and its status decides", async () => {
    const { agent, server } = await served(wire, async (exchange) => {
      exchange.response.writeHead(401, { "content-type": "text/html" });
      await flood(exchange, PIECE);
    });
    await expect(agent.postAndAwait("go")).rejects.toMatchObject(failedWith("provider-error", /status 401/));
    expect(await server.exchanges[0]?.closed).toBe(false);
  });

  test("a stream that drips is cut after its seconds, though it is never silent", async () => {
    const { agent, server } = await served(
      wire,
      (exchange) => {
        begin(exchange, wire.beginning("drip"));
        const frame = wire.beginning("drip").at(-1) ?? "";
        const timer = setInterval(() => exchange.response.write(frame), 50);
        exchange.response.on("close", () => clearInterval(timer));
      },
      { limits: { replySeconds: 1 } },
    );
    await expect(agent.postAndAwait("go")).rejects.toMatchObject(
      failedWith("reply-limit", /took longer than 1 seconds and was cut off; limits\.replySeconds/),
    );
    expect(server.exchanges).toHaveLength(1);
    expect(await server.exchanges[0]?.closed).toBe(false);
  });

  test("a server that refuses the number of tokens is asked without it", async () => {
    const { agent, server } = await served(wire, (exchange) =>
      exchange.body.includes(":32768")
        ? refuse(exchange, 400, wire.error("max_tokens is too large: 32768. This model supports at most 4096."))
        : stream(exchange, wire.frames({ text: "Hello." })),
    );
    expect(await agent.postAndAwait("go")).toMatchObject({ text: "Hello." });
    expect(server.exchanges).toHaveLength(2);
  });
});

test("arguments of a tool call without end are cut", async () => {
  const call = { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: "" } };
  const frame = (delta: unknown) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
  const { agent, server } = await served(openaiChat, async (exchange) => {
    begin(exchange, [frame({ tool_calls: [call] })]);
    await flood(exchange, frame({ tool_calls: [{ index: 0, function: { arguments: PIECE } }] }));
  });
  await expect(agent.postAndAwait("go")).rejects.toMatchObject(failedWith("reply-limit", /was cut off/));
  expect(server.exchanges).toHaveLength(1);
});

test("blocks without text are counted too", async () => {
  const block = (type: string, index: number, rest: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, index, ...rest })}\n\n`;
  const { agent } = await served(anthropic, async (exchange) => {
    begin(exchange, anthropic.beginning("").slice(0, 1));
    for (let index = 0; !exchange.response.destroyed; index += 1) {
      const start = block("content_block_start", index, { content_block: { type: "text", text: "" } });
      if (!exchange.response.write(start + block("content_block_stop", index, {}))) await drained(exchange.response);
    }
  });
  await expect(agent.postAndAwait("go")).rejects.toMatchObject(failedWith("reply-limit", /was cut off/));
});

test("a reply that is cut in the turn of an announcement is not asked for again", async () => {
  const { errand } = await openTestErrand({
    parent: [
      callTool("start_background_agent", { task: "count the herons" }),
      say("Started."),
      say("x".repeat(5 * MEBIBYTE)),
    ],
    child: [callTool("send_agent_message", { text: "seven", final: true })],
  });
  const agent = await errand.openAgent();
  await agent.post("go");
  const events = await eventsUntil(errand, agent.id, ({ facts }) => facts.some(({ type }) => type === "model-failed"));
  const types = events.at(-1)?.facts.map(({ type }) => type);
  expect(types).toContain("turn-ended");
  expect(types).not.toContain("model-retry-set");
});

/** A model of the user's own, with nothing of the adapter's care. */
function ownModel(model: Model): Partial<ErrandOptions> {
  return {
    models: [{ resolve: () => ({ model, facts: { window: null, price: null } }) }],
    model: "own/model",
    agents: { orchestrator: { prompt: "You are a test.", model: "own/model" } },
  };
}

test("a model of the user's own that streams for ever and ignores its signal is cut", async () => {
  let aborted = false;
  let over = false;
  onTestFinished(() => void (over = true));
  const model: Model = {
    async call(_request, { signal, onText }) {
      while (!over) {
        onText?.(PIECE);
        aborted ||= signal.aborted;
        await new Promise((resolve) => setImmediate(resolve));
      }
      throw new Error("the test is over");
    },
  };
  const { errand } = await openTestErrand({ parent: [] }, ownModel(model));
  const agent = await errand.openAgent();
  await expect(agent.postAndAwait("go")).rejects.toMatchObject(failedWith("reply-limit", /own\/model is longer/));
  expect(aborted).toBe(true);
});

test("a model of the user's own that counts oddly is cut by its text all the same", async () => {
  for (const odd of [Number.NaN, -1e12, undefined, "many"]) {
    const model: Model = {
      async call(_request, { signal, onText, onReceived }) {
        onReceived?.(odd as never);
        for (let pieces = 0; pieces < 1_000 && !signal.aborted; pieces += 1) {
          onText?.(PIECE);
          await new Promise((resolve) => setImmediate(resolve));
        }
        return { parts: [{ type: "text", text: "short" }], usage: null, stop: "end" };
      },
    };
    const { errand } = await openTestErrand({ parent: [] }, ownModel(model));
    const agent = await errand.openAgent();
    await expect(agent.postAndAwait("go")).rejects.toMatchObject(failedWith("reply-limit", /was cut off/));
  }
});

test.each([
  ["more than its tokens can be", "x".repeat(2_000), { replyTokens: 100 }, /longer than 100 tokens can be/],
  ["one byte too many", "x".repeat(2_000), { replyBytes: 2_000 }, /longer than 2000 bytes/],
  [
    "more than a journal takes",
    "x".repeat(17 * MEBIBYTE),
    { replyBytes: 64 * MEBIBYTE, replyTokens: null },
    /larger than 16777216/,
  ],
])("a whole reply with %s is refused once, with what it used", async (_what, text, limits, words) => {
  let calls = 0;
  const model: Model = {
    async call() {
      calls += 1;
      return { parts: [{ type: "text", text }], usage: { input: 7, output: 9 }, stop: "end" };
    },
  };
  const { errand } = await openTestErrand({ parent: [] }, { ...ownModel(model), limits });
  const agent = await errand.openAgent();
  await expect(agent.postAndAwait("go")).rejects.toMatchObject(failedWith("reply-limit", words));
  expect(calls).toBe(1);
  const facts = (await eventsUntil(errand, agent.id, turnsEnded(1))).flatMap((event) => event.facts);
  expect(facts).toContainEqual(
    expect.objectContaining({ type: "model-failed", code: "reply-limit", usage: { input: 7, output: 9 } }),
  );
});

test("data of the provider, such as signatures, do not count as tokens", async () => {
  const parts = [
    { type: "reasoning", text: "hm", data: { signature: "x".repeat(10_000) } },
    { type: "text", text: "short" },
  ] as const;
  const model: Model = { call: async () => ({ parts, usage: null, stop: "end" }) };
  const { errand } = await openTestErrand({ parent: [] }, { ...ownModel(model), limits: { replyTokens: 100 } });
  expect(await (await errand.openAgent()).postAndAwait("go")).toMatchObject({ text: "short" });
});

test("a reply within its tokens is kept, and a window bounds what is asked for", async () => {
  const asked: (number | undefined)[] = [];
  const model: Model = {
    async call({ maxOutputTokens }) {
      asked.push(maxOutputTokens);
      return { parts: [{ type: "text", text: "x".repeat(1_500) }], usage: null, stop: "end" };
    },
  };
  const own = { ...ownModel(model), models: [{ resolve: () => ({ model, facts: { window: 1_000, price: null } }) }] };
  const { errand } = await openTestErrand({ parent: [] }, { ...own, limits: { replyTokens: 100 } });
  expect(await (await errand.openAgent()).postAndAwait("go")).toMatchObject({ text: "x".repeat(1_500) });
  const { errand: wide } = await openTestErrand({ parent: [] }, own);
  await (await wide.openAgent()).postAndAwait("go");
  expect(asked).toEqual([100, 200]);
});

test("a model of the user's own that begins a reply and never ends it is given up, and the next message is taken", async () => {
  const world = createTestWorld();
  let calls = 0;
  const model: Model = {
    call(_request, { onText }) {
      calls += 1;
      if (calls === 2) return Promise.resolve({ parts: [{ type: "text", text: "here" }], usage: null, stop: "end" });
      onText?.("well");
      return new Promise(() => undefined);
    },
  };
  const { errand } = await openTestErrand({ parent: [] }, { ...ownModel(model), world });
  const agent = await errand.openAgent();
  const first = agent.postAndAwait("go", { timeoutMs: 10_000_000 });
  const failed = expect(first).rejects.toMatchObject(failedWith("reply-limit", /took longer than 1800 seconds/));
  await world.advance(1_800_000);
  await world.advance(1_000);
  await failed;
  const second = agent.postAndAwait("and now?");
  await world.advance(10);
  expect(await second).toMatchObject({ text: "here" });
});

test("an estimate of what was read is booked where the wire did not say", async () => {
  const { agent, errand } = await served(openaiChat, async (exchange) => {
    begin(exchange, openaiChat.beginning(PIECE));
    await flood(exchange, more(openaiChat));
  });
  await expect(agent.postAndAwait("go")).rejects.toMatchObject({ code: "turn-failed" });
  for await (const { facts } of errand.journal(agent.id)) {
    const failed = facts.find((fact) => fact.type === "model-failed");
    if (failed === undefined) continue;
    expect(failed).toMatchObject({ usage: { estimated: true } });
    expect(failed.usage?.output).toBeGreaterThan(100_000);
    break;
  }
});
