/** Replies over each provider's protocol: live text, the reply, and what is sent back. */

import { describe, expect, test } from "vitest";
import type { ContextMessage, ModelReply } from "../../src/index.ts";
import { ask, connect, unaborted, WIRES } from "./wires/index.ts";
import { anthropic } from "./wires/anthropic.ts";
import { google } from "./wires/google.ts";
import { KEY, type Wire, type WireReply } from "./wires/wire.ts";
import { stream } from "./wires/wire-server.ts";

const LOOKS = [
  { id: "call_a", name: "look", arguments: '{"path":"a"}' },
  { id: "call_b", name: "look", arguments: '{"path":"b"}' },
] as const;

/** The value after a journal stored it. */
function recorded(reply: ModelReply): ContextMessage {
  return { role: "assistant", parts: JSON.parse(JSON.stringify(reply.parts)) as ModelReply["parts"] };
}

async function replyTo(wire: Wire, reply: WireReply) {
  const { model, server } = await connect(wire, (exchange) => stream(exchange, wire.frames(reply)));
  const heard: string[] = [];
  const answer = await model.call(ask(wire), { ...unaborted(), onText: (delta) => heard.push(delta) });
  return { answer, heard, server, model };
}

describe.each(WIRES)("$title", (wire) => {
  test("text is streamed, and whole in the reply", async () => {
    const { answer, heard, server } = await replyTo(wire, { text: "Hello there.", stop: "end" });
    expect(heard.join("")).toBe("Hello there.");
    expect(answer.parts.filter((part) => part.type !== "reasoning")).toEqual([{ type: "text", text: "Hello there." }]);
    expect(answer.stop).toBe("end");
    expect(server.exchanges).toHaveLength(1);
    const body = JSON.parse(server.exchanges[0]?.body ?? "") as Record<string, unknown>;
    expect(JSON.stringify(body)).toContain("You are a test.");
    expect(JSON.stringify(body["tools"])).toContain('"look"');
  });

  test("parallel tool calls are in order, with parsed arguments", async () => {
    const { answer } = await replyTo(wire, { text: "Looking.", calls: LOOKS });
    expect(answer.parts.filter((part) => part.type === "tool-call")).toEqual([
      { type: "tool-call", id: "call_a", name: "look", input: { path: "a" } },
      { type: "tool-call", id: "call_b", name: "look", input: { path: "b" } },
    ]);
    expect(answer.stop).toBe("tools");
  });

  test("usage has the cached tokens", async () => {
    const { answer } = await replyTo(wire, { text: "Hi.", usage: { input: 100, cached: 80, output: 7 } });
    expect(answer.usage).toEqual({ input: 100, output: 7, cachedInput: 80 });
  });

  test("the stop reason tells a cut and a refused reply from a whole one", async () => {
    expect((await replyTo(wire, { text: "Half of", stop: "length" })).answer.stop).toBe("length");
    expect((await replyTo(wire, { text: "No.", stop: "refused" })).answer.stop).toBe("refused");
  });

  test("calls and results are sent back in the provider's format", async () => {
    const calls = { text: "Looking.", calls: LOOKS, reasoning: { text: "I must look.", signature: "c2lnbmVk" } };
    const { model, server } = await connect(wire, (exchange) =>
      stream(exchange, wire.frames(exchange.number === 1 ? calls : { text: "Done." })),
    );
    const first = await model.call(ask(wire), unaborted());
    const results: ContextMessage = {
      role: "tool",
      results: [
        { id: "call_a", name: "look", text: "saw a", failed: false },
        { id: "call_b", name: "look", text: "no b here", failed: true },
      ],
    };
    await model.call(ask(wire, [{ role: "user", text: "go" }, recorded(first), results]), unaborted());
    const back = wire.read(server.exchanges[1]?.body ?? "");
    expect(back.calls.map(({ name, input }) => ({ name, input }))).toEqual([
      { name: "look", input: { path: "a" } },
      { name: "look", input: { path: "b" } },
    ]);
    expect(back.results).toHaveLength(2);
    expect(back.results[0]).toContain("saw a");
    expect(back.results[1]).toContain("no b here");
    if (!wire.reasoning) return;
    const signature = wire.model.startsWith("ollama/") ? "I must look." : "c2lnbmVk";
    expect(back.signatures).toEqual([signature]);
    expect(first.parts.some((part) => part.type === "reasoning" && part.text === "I must look.")).toBe(true);
  });

  test("reasoning of another model is not sent to this one", async () => {
    const calls = { calls: LOOKS.slice(0, 1), reasoning: { text: "Theirs.", signature: "dGhlaXJz" } };
    const { model, server } = await connect(wire, (exchange) =>
      stream(exchange, wire.frames(exchange.number === 1 ? calls : { text: "Done." })),
    );
    const first = await model.call(ask(wire), unaborted());
    const foreign = JSON.parse(JSON.stringify(recorded(first)).replaceAll(wire.model, "other/model")) as ContextMessage;
    const results: ContextMessage = {
      role: "tool",
      results: [{ id: "call_a", name: "look", text: "x", failed: false }],
    };
    await model.call(ask(wire, [{ role: "user", text: "go" }, foreign, results]), unaborted());
    expect(server.exchanges[1]?.body).not.toContain("dGhlaXJz");
    expect(server.exchanges[1]?.body).not.toContain("Theirs.");
  });

  test("the key is sent in a header, and in no body", async () => {
    const { server } = await replyTo(wire, { text: "Hi." });
    if (!wire.model.startsWith("ollama/")) expect(JSON.stringify(server.exchanges[0]?.headers)).toContain(KEY);
    expect(server.exchanges[0]?.body).not.toContain(KEY);
  });
});

describe.each(WIRES.filter((wire) => wire.textArguments))("$title", (wire) => {
  test("arguments that are not JSON are kept as text, and sent back as an object", async () => {
    const broken = { calls: [{ id: "call_a", name: "look", arguments: '{"path": "unfinis' }], stop: "tools" } as const;
    const { model, server } = await connect(wire, (exchange) =>
      stream(exchange, wire.frames(exchange.number === 1 ? broken : { text: "Sorry." })),
    );
    const first = await model.call(ask(wire), unaborted());
    expect(first.parts).toContainEqual({ type: "tool-call", id: "call_a", name: "look", input: '{"path": "unfinis' });
    const results: ContextMessage = {
      role: "tool",
      results: [{ id: "call_a", name: "look", text: "no JSON", failed: true }],
    };
    await model.call(ask(wire, [{ role: "user", text: "go" }, recorded(first), results]), unaborted());
    expect(wire.read(server.exchanges[1]?.body ?? "").calls).toEqual([
      { id: "call_a", name: "look", input: { malformed_arguments: '{"path": "unfinis' } },
    ]);
  });
});

test("Google's malformed function call is a retryable failure", async () => {
  const { malformedCall } = await import("./wires/google.ts");
  const { model } = await connect(google, (exchange) => stream(exchange, [malformedCall()]));
  await expect(model.call(ask(google), unaborted())).rejects.toMatchObject({ code: "provider-error", retryable: true });
});

test("empty texts, lone reasoning, half characters and odd call ids are not sent", async () => {
  const { model, server } = await connect(anthropic, (exchange) => stream(exchange, anthropic.frames({ text: "Hi." })));
  const thought = { type: "reasoning", text: "Hm.", data: { model: anthropic.model, of: "this", data: {} } } as const;
  await model.call(
    ask(anthropic, [
      { role: "user", text: "cut \ud83d" },
      { role: "assistant", parts: [thought, { type: "text", text: "  " }] },
      { role: "user", text: "again" },
      { role: "assistant", parts: [{ type: "tool-call", id: "call-1.2-1", name: "look", input: {} }] },
      { role: "tool", results: [{ id: "call-1.2-1", name: "look", text: "seen", failed: false }] },
    ]),
    unaborted(),
  );
  const { messages } = JSON.parse(server.exchanges[0]?.body ?? "") as {
    messages: { role: string; content: unknown[] }[];
  };
  expect(messages).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "cut \ufffd" },
        { type: "text", text: "again" },
      ],
    },
    { role: "assistant", content: [{ type: "tool_use", id: "call-1_2-1", name: "look", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "call-1_2-1", content: "seen" }] },
  ]);
});

test("Anthropic is asked to cache the prompt and the messages, and to drop outdated reasoning", async () => {
  const { server } = await replyTo(anthropic, { text: "Hi." });
  const body = JSON.parse(server.exchanges[0]?.body ?? "") as Record<string, unknown>;
  const marked = { cache_control: { type: "ephemeral" } };
  expect(body).toMatchObject({
    ...marked,
    system: [{ type: "text", text: "You are a test.", ...marked }],
    thinking: { block_binding: { prefix_mismatch_behavior: "drop_block" } },
  });
});
