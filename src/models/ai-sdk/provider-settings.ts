/**
 * Owns what Errand asks of particular providers, beyond the prompt.
 *
 * - Anthropic caches only what is marked. The system prompt (with the tools before it) is marked where it stands; the growing rest is
 *   left to Anthropic's automatic caching, one field of the request, because a mark that moves from message to message would change
 *   bytes that were sent before.
 * - Newer Claude models bind their thoughts to what came before them, and refuse a context that was compacted since, unless they are
 *   told to drop such thoughts.
 * - OpenAI's responses API would keep every item on its side and be sent references to them, which expire; a journal outlives that, so
 *   nothing is stored there, and thoughts travel encrypted in the request.
 * - A tool without arguments: Gemini refuses an empty `properties`, OpenAI an object without `properties`.
 */

import type { Json } from "../../core/values/json.ts";
import type { LanguageModel } from "./language-model.ts";

type ProviderOptions = Record<string, Record<string, Json>>;

export interface ProviderHabits {
  /** Options of the call. */
  readonly call?: ProviderOptions;
  /** Options of the system message. */
  readonly system?: ProviderOptions;
  /** True if `properties` of a tool without arguments are left out; else they are there and empty. */
  readonly omitsNoProperties?: true;
}

const EPHEMERAL = { type: "ephemeral" } as const;
const BOUND_THOUGHTS = /claude-(?:fable-5-[1-9]|opus-5-5|sonnet-5-5)/;

export function providerHabits({ provider, modelId }: Pick<LanguageModel, "provider" | "modelId">): ProviderHabits {
  if (provider === "openai.responses") return { call: { openai: { store: false } } };
  if (provider.startsWith("google.")) return { omitsNoProperties: true };
  if (!provider.includes("anthropic")) return {};
  const system = { anthropic: { cacheControl: EPHEMERAL } };
  // Other hosts of Claude (Vertex, Bedrock) do not have automatic caching.
  if (provider !== "anthropic.messages") return { system };
  const thinking = { blockBinding: { prefixMismatchBehavior: "drop_block" } };
  return {
    system,
    call: { anthropic: { cacheControl: EPHEMERAL, ...(BOUND_THOUGHTS.test(modelId) ? { thinking } : {}) } },
  };
}
