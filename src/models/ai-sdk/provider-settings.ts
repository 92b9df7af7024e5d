/**
 * What requests to particular providers have besides the prompt.
 *
 * - Anthropic caches only marked parts. The system prompt (the tools stand before it) is marked. The messages are left
 *   to Anthropic's automatic caching, which is one field of the request: a mark that moves from message to message
 *   would change bytes that were sent before.
 * - Newer Claude models tie their reasoning to the context before it. They refuse a context that was compacted since,
 *   unless the request tells them to drop such reasoning.
 * - OpenAI's responses API stores every item and accepts references to them, which expire. A journal lives longer, so
 *   nothing is stored there, and reasoning travels encrypted in the request.
 * - A tool without arguments: Gemini refuses empty `properties`, OpenAI refuses an object without `properties`.
 */

import type { LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider";
import type { Json } from "../../core/values/json.ts";

/** Both versions of the AI SDK's interface that are in use. */
export type LanguageModel = LanguageModelV3 | LanguageModelV4;
export type ProviderOptions = Record<string, Record<string, Json>>;

export interface ProviderSettings {
  readonly callOptions?: ProviderOptions;
  /** For the system message. */
  readonly systemOptions?: ProviderOptions;
  /** True: the schema of a tool without arguments has no `properties`. Otherwise they are empty. */
  readonly omitsEmptyProperties?: true;
}

const EPHEMERAL = { type: "ephemeral" } as const;
const BINDS_REASONING = /claude-(?:fable-5-[1-9]|opus-5-5|sonnet-5-5)/;

export function providerSettings({ provider, modelId }: Pick<LanguageModel, "provider" | "modelId">): ProviderSettings {
  if (provider === "openai.responses") return { callOptions: { openai: { store: false } } };
  if (provider.startsWith("google.")) return { omitsEmptyProperties: true };
  if (!provider.includes("anthropic")) return {};
  const systemOptions = { anthropic: { cacheControl: EPHEMERAL } };
  // Other hosts of Claude (Vertex, Bedrock) have no automatic caching.
  if (provider !== "anthropic.messages") return { systemOptions };
  const thinking = { blockBinding: { prefixMismatchBehavior: "drop_block" } };
  const bound = BINDS_REASONING.test(modelId) ? { thinking } : {};
  return { systemOptions, callOptions: { anthropic: { cacheControl: EPHEMERAL, ...bound } } };
}
