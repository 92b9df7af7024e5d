/** The protocol of Google's streamGenerateContent. */

import { data, type Fields, KEY, listOf, parsed, type SentBack, type Wire, type WireReply } from "./wire.ts";

const STOPS = { end: "STOP", tools: "STOP", length: "MAX_TOKENS", refused: "SAFETY" } as const;

function chunk(parts: readonly unknown[], more: Fields = {}, finish?: string): string {
  const content = { role: "model", parts };
  const candidate = { content, index: 0, ...(finish === undefined ? {} : { finishReason: finish }) };
  return data({ candidates: [candidate], modelVersion: "gemini", responseId: "r1", ...more });
}

export function malformedCall(): string {
  return chunk([], {}, "MALFORMED_FUNCTION_CALL");
}

/** Gemini signs the first call of a reply, or the reasoning if there is no call. */
function frames(reply: WireReply): readonly string[] {
  const { reasoning, text, calls = [], stop = "end", usage = { input: 10, cached: 0, output: 5 } } = reply;
  const signature = reasoning?.signature;
  return [
    ...(reasoning === undefined ? [] : [chunk([{ text: reasoning.text, thought: true }])]),
    ...(text === undefined ? [] : [chunk([{ text: text.slice(0, 3) }]), chunk([{ text: text.slice(3) }])]),
    ...calls.map(({ id, name, arguments: written }, index) => {
      const functionCall = { id, name, args: JSON.parse(written) as unknown };
      const signed = index === 0 && signature !== undefined;
      return chunk([signed ? { functionCall, thoughtSignature: signature } : { functionCall }]);
    }),
    chunk(
      [],
      {
        usageMetadata: {
          promptTokenCount: usage.input,
          cachedContentTokenCount: usage.cached,
          candidatesTokenCount: usage.output,
          totalTokenCount: usage.input + usage.output,
        },
      },
      STOPS[stop],
    ),
  ];
}

function read(body: string): SentBack {
  const parts = listOf(parsed(body)["contents"]).flatMap((content) => listOf(content["parts"]));
  const called = parts.filter((part) => part["functionCall"] !== undefined);
  return {
    signatures: parts.flatMap(({ thoughtSignature: text }) => (typeof text === "string" ? [text] : [])),
    calls: called.map((part) => {
      const { id, name, args } = part["functionCall"] as Fields;
      return { id: typeof id === "string" ? id : null, name: String(name), input: args };
    }),
    results: parts.flatMap((part) =>
      part["functionResponse"] === undefined ? [] : [JSON.stringify((part["functionResponse"] as Fields)["response"])],
    ),
  };
}

export const google: Wire = {
  title: "Google streamGenerateContent",
  model: "google/gemini-4-argon",
  reasoning: true,
  textArguments: false,
  env: (url) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url }),
  frames,
  beginning: (text) => [
    chunk([{ text }], {
      usageMetadata: { promptTokenCount: 30, cachedContentTokenCount: 20, candidatesTokenCount: 2 },
    }),
  ],
  earlyUsage: { input: 30, output: 2, cachedInput: 20 },
  overflow: {
    status: 400,
    body: {
      error: {
        code: 400,
        message: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).",
        status: "INVALID_ARGUMENT",
      },
    },
  },
  error: (message) => ({ error: { code: 500, message, status: "INTERNAL" } }),
  read,
  growing: "contents",
};
