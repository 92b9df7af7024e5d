/** The protocol of OpenAI's chat completions, and of compatible servers. */

import { data, KEY, listOf, parsed, type SentBack, type Wire, type WireReply } from "./wire.ts";

const STOPS = { end: "stop", tools: "tool_calls", length: "length", refused: "content_filter" } as const;

function chunk(delta: unknown, finish: string | null = null): string {
  return data({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
}

function frames(reply: WireReply): readonly string[] {
  const { reasoning, text, calls = [], usage = { input: 10, cached: 0, output: 5 } } = reply;
  const stop = reply.stop ?? (calls.length > 0 ? "tools" : "end");
  const called = calls.flatMap(({ id, name, arguments: written }, index) => {
    const middle = Math.ceil(written.length / 2);
    return [
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: written.slice(0, middle) } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: written.slice(middle) } }] }),
    ];
  });
  return [
    chunk({ role: "assistant", content: "" }),
    ...(reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning.text })]),
    ...(text === undefined ? [] : [chunk({ content: text.slice(0, 3) }), chunk({ content: text.slice(3) })]),
    ...called,
    chunk({}, STOPS[stop]),
    data({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [],
      usage: {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
        prompt_tokens_details: { cached_tokens: usage.cached },
      },
    }),
    "data: [DONE]\n\n",
  ];
}

function read(body: string): SentBack {
  const messages = listOf(parsed(body)["messages"]);
  const calls = messages.flatMap((message) => listOf(message["tool_calls"]));
  return {
    signatures: messages.flatMap(({ reasoning_content: text }) => (typeof text === "string" ? [text] : [])),
    calls: calls.map(({ id, function: called }) => {
      const { name, arguments: written } = called as { readonly name: string; readonly arguments: string };
      return { id: String(id), name, input: JSON.parse(written) as unknown };
    }),
    results: messages.filter(({ role }) => role === "tool").map(({ content }) => String(content)),
  };
}

export const openaiChat: Wire = {
  title: "OpenAI chat completions",
  model: "openai-chat/gpt-6.1-sol",
  reasoning: false,
  textArguments: true,
  env: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` }),
  frames,
  beginning: (text) => [chunk({ role: "assistant", content: "" }), chunk({ content: text })],
  earlyUsage: null,
  overflow: {
    status: 400,
    body: {
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 140012 tokens.",
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      },
    },
  },
  error: (message) => ({ error: { message, type: "server_error", param: null, code: null } }),
  read,
  growing: "messages",
};

export const openaiCompatible: Wire = {
  ...openaiChat,
  title: "OpenAI-compatible (Ollama)",
  model: "ollama/qwen3:8b",
  reasoning: true,
  env: (url) => ({ OLLAMA_HOST: url.replace("http://", "") }),
  overflow: {
    status: 400,
    body: {
      error: {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
      },
    },
  },
};
