/** The protocol of Anthropic's messages API. */

import { data, KEY, listOf, parsed, type SentBack, type Wire, type WireReply } from "./wire.ts";

const STOPS = { end: "end_turn", tools: "tool_use", length: "max_tokens", refused: "refusal" } as const;

function event(value: { readonly type: string } & Record<string, unknown>): string {
  return `event: ${value.type}\n${data(value)}`;
}

export function ping(): string {
  return event({ type: "ping" });
}

function start({ input, cached }: { readonly input: number; readonly cached: number }): string {
  const usage = { input_tokens: input - cached, cache_read_input_tokens: cached, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude", content: [], stop_reason: null };
  return event({ type: "message_start", message: { ...message, usage } });
}

function block(index: number, content: unknown, deltas: readonly unknown[]): readonly string[] {
  return [
    event({ type: "content_block_start", index, content_block: content }),
    ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
    event({ type: "content_block_stop", index }),
  ];
}

function halves(text: string): readonly [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

function frames(reply: WireReply): readonly string[] {
  const { reasoning, text, calls = [], usage = { input: 10, cached: 0, output: 5 } } = reply;
  const stop = reply.stop ?? (calls.length > 0 ? "tools" : "end");
  const blocks: (readonly [unknown, readonly unknown[]])[] = [];
  if (reasoning !== undefined) {
    const thoughts = halves(reasoning.text).map((thinking) => ({ type: "thinking_delta", thinking }));
    const signature = { type: "signature_delta", signature: reasoning.signature };
    blocks.push([{ type: "thinking", thinking: "", signature: "" }, [...thoughts, signature]]);
  }
  if (text !== undefined) {
    blocks.push([{ type: "text", text: "" }, halves(text).map((piece) => ({ type: "text_delta", text: piece }))]);
  }
  for (const { id, name, arguments: written } of calls) {
    const pieces = halves(written).map((piece) => ({ type: "input_json_delta", partial_json: piece }));
    blocks.push([{ type: "tool_use", id, name, input: {} }, pieces]);
  }
  return [
    start(usage),
    ping(),
    ...blocks.flatMap(([content, deltas], index) => block(index, content, deltas)),
    event({
      type: "message_delta",
      delta: { stop_reason: STOPS[stop], stop_sequence: null },
      usage: { output_tokens: usage.output },
    }),
    event({ type: "message_stop" }),
  ];
}

function read(body: string): SentBack {
  const blocks = listOf(parsed(body)["messages"]).flatMap((message) => listOf(message["content"]));
  return {
    signatures: blocks.filter(({ type }) => type === "thinking").map(({ signature }) => String(signature)),
    calls: blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({ id: String(id), name: String(name), input })),
    results: blocks.filter(({ type }) => type === "tool_result").map(({ content }) => String(content)),
  };
}

export const anthropic: Wire = {
  title: "Anthropic messages",
  model: "anthropic/claude-sonnet-5-5",
  reasoning: true,
  textArguments: true,
  env: (url) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url }),
  frames,
  beginning: (text) => [
    start({ input: 30, cached: 20 }),
    ...block(0, { type: "text", text: "" }, [{ type: "text_delta", text }]).slice(0, 2),
  ],
  earlyUsage: { input: 30, output: 1, cachedInput: 20 },
  overflow: {
    status: 400,
    body: {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 213462 tokens > 200000 maximum" },
    },
  },
  error: (message) => ({ type: "error", error: { type: "api_error", message } }),
  read,
  growing: "messages",
};
