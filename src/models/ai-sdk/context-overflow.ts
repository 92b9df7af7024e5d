/**
 * Owns the recognition of a request that was too long for the model: no provider has a code for it that the SDK passes on, only a
 * status and words.
 */

/** Lower case; each is said by a provider of which the comment names one. */
const SAYINGS = [
  "prompt is too long", // Anthropic
  "exceed context limit", // Anthropic: input and max_tokens together
  "request_too_large", // Anthropic
  "context_length_exceeded", // OpenAI
  "maximum context length", // OpenAI, vLLM, OpenRouter, Mistral
  "exceeds the context window", // OpenAI responses
  "input token count", // Google: "The input token count (…) exceeds the maximum number of tokens allowed"
  "exceed_context_size", // llama.cpp
  "exceeds the available context size", // llama.cpp
  "greater than the context length", // LM Studio
  "longer than the maximum model length", // vLLM
  "maximum prompt length", // xAI
  "reduce the length of the messages", // Groq
  "exceeded model token limit", // Moonshot
  "context window exceeds limit", // MiniMax
  "input is too long for requested model", // Bedrock
] as const;

/** Statuses under which those words mean the request. A 429 that speaks of tokens means the quota. */
const STATUSES: ReadonlySet<number | undefined> = new Set([undefined, 400, 413, 422]);

export function contextOverflowIs(status: number | undefined, text: string): boolean {
  if (status === 413) return true;
  if (!STATUSES.has(status)) return false;
  const words = text.toLowerCase();
  return SAYINGS.some((saying) => words.includes(saying));
}
