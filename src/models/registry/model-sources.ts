/**
 * Owns where models of each provider come from: its package, its key, its base URL, its default model.
 *
 * Packages are imported when a model is first called, and everything they would take from the process's environment is given to them.
 */

import type { LanguageModel } from "../ai-sdk/language-model.ts";
import { ollamaBaseUrl, withoutSlash, withVersion } from "./base-url.ts";
import { type Environment, firstOf } from "./environment.ts";

export interface ModelSource {
  /** The first part of `provider/name`. */
  readonly provider: string;
  readonly packageName: string;
  /** Variables that may hold the key, the usual one first. */
  readonly keys: readonly string[];
  /** False: a server that asks for no key. */
  readonly keyNeeded: boolean;
  /** What is used when nobody names a model and this provider's key is there. */
  readonly defaultModel: string | null;
  /** Where the API is; null when only the user can say. */
  baseUrl(env: Environment, given: string | undefined): string | null;
  load(name: string, options: LoadOptions): Promise<LanguageModel>;
}

/** What every provider's package is given. */
export interface LoadOptions {
  readonly baseURL: string;
  /** Empty for none. */
  readonly apiKey: string;
  readonly fetch: typeof fetch;
}

export const MODEL_SOURCES: readonly ModelSource[] = [
  {
    provider: "anthropic",
    packageName: "@ai-sdk/anthropic",
    keys: ["ANTHROPIC_API_KEY"],
    keyNeeded: true,
    defaultModel: "anthropic/claude-sonnet-5-5",
    baseUrl: (env) => withVersion(firstOf(env, ["ANTHROPIC_BASE_URL"])?.value ?? "https://api.anthropic.com", "v1"),
    async load(name, options) {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(options).languageModel(name);
    },
  },
  {
    provider: "openai",
    packageName: "@ai-sdk/openai",
    keys: ["OPENAI_API_KEY"],
    keyNeeded: true,
    defaultModel: "openai/gpt-6.1-sol",
    baseUrl: openaiBaseUrl,
    async load(name, options) {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(options).responses(name);
    },
  },
  {
    provider: "openai-chat",
    packageName: "@ai-sdk/openai",
    keys: ["OPENAI_API_KEY"],
    keyNeeded: true,
    defaultModel: null,
    baseUrl: openaiBaseUrl,
    async load(name, options) {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(options).chat(name);
    },
  },
  {
    provider: "google",
    packageName: "@ai-sdk/google",
    keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    keyNeeded: true,
    defaultModel: "google/gemini-4-argon",
    baseUrl: (env) =>
      withVersion(
        firstOf(env, ["GOOGLE_GEMINI_BASE_URL"])?.value ?? "https://generativelanguage.googleapis.com",
        "v1beta",
      ),
    async load(name, options) {
      const { createGoogle } = await import("@ai-sdk/google");
      return createGoogle(options).languageModel(name);
    },
  },
  {
    provider: "ollama",
    packageName: "@ai-sdk/openai-compatible",
    keys: ["OLLAMA_API_KEY"],
    keyNeeded: false,
    defaultModel: null,
    baseUrl: (env) => ollamaBaseUrl(env["OLLAMA_HOST"]),
    load: (name, options) => loadCompatible("ollama", name, options),
  },
  {
    provider: "openai-compatible",
    packageName: "@ai-sdk/openai-compatible",
    keys: ["OPENAI_COMPATIBLE_API_KEY"],
    keyNeeded: false,
    defaultModel: null,
    baseUrl(env, given) {
      const url = given ?? firstOf(env, ["OPENAI_COMPATIBLE_BASE_URL"])?.value;
      return url === undefined ? null : withoutSlash(url);
    },
    load: (name, options) => loadCompatible("openai-compatible", name, options),
  },
];

function openaiBaseUrl(env: Environment): string {
  return withoutSlash(firstOf(env, ["OPENAI_BASE_URL"])?.value ?? "https://api.openai.com/v1");
}

async function loadCompatible(
  provider: string,
  model: string,
  { apiKey, ...options }: LoadOptions,
): Promise<LanguageModel> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const compatible = createOpenAICompatible({
    name: provider,
    includeUsage: true,
    ...options,
    ...(apiKey === "" ? {} : { apiKey }),
  });
  return compatible.languageModel(model);
}
