/**
 * The providers of real models: their packages, keys, base URLs and default models.
 *
 * A package is imported by the first call of its model. It gets every setting as an argument, so that it reads none
 * from the process's environment.
 */

import type * as AnthropicPackage from "@ai-sdk/anthropic";
import type * as GooglePackage from "@ai-sdk/google";
import type * as OpenAIPackage from "@ai-sdk/openai";
import type * as CompatiblePackage from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "../ai-sdk/provider-settings.ts";
import { ollamaBaseUrl, withoutSlash, withVersion } from "./base-url.ts";
import { importPackage } from "./provider-packages.ts";

/** Variables of a process, by their names. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ModelSource {
  /** The first part of `provider/name`. */
  readonly provider: string;
  readonly packageName: string;
  /** Environment variables for the key, the usual one first. */
  readonly keys: readonly string[];
  /** False: the server may work without a key. */
  readonly keyNeeded: boolean;
  /** Used when no model is named and this provider's key is set. */
  readonly defaultModel: string | null;
  /** The base URL of the API; null if it is not configured. */
  baseUrl(env: Environment, given: string | undefined): string | null;
  load(name: string, options: LoadOptions): Promise<LanguageModel>;
}

export interface LoadOptions {
  readonly baseURL: string;
  /** Empty: no key. */
  readonly apiKey: string;
  readonly fetch: typeof fetch;
}

const importAnthropic = () => importPackage<typeof AnthropicPackage>("@ai-sdk/anthropic");
const importOpenAI = () => importPackage<typeof OpenAIPackage>("@ai-sdk/openai");
const importGoogle = () => importPackage<typeof GooglePackage>("@ai-sdk/google");
const importCompatible = () => importPackage<typeof CompatiblePackage>("@ai-sdk/openai-compatible");

const OPENAI = {
  packageName: "@ai-sdk/openai",
  keys: ["OPENAI_API_KEY"],
  keyNeeded: true,
  baseUrl: (env: Environment) => withoutSlash(firstOf(env, ["OPENAI_BASE_URL"])?.value ?? "https://api.openai.com/v1"),
} as const;

export const MODEL_SOURCES: readonly ModelSource[] = [
  {
    provider: "anthropic",
    packageName: "@ai-sdk/anthropic",
    keys: ["ANTHROPIC_API_KEY"],
    keyNeeded: true,
    defaultModel: "anthropic/claude-sonnet-5-5",
    baseUrl: (env) => withVersion(firstOf(env, ["ANTHROPIC_BASE_URL"])?.value ?? "https://api.anthropic.com", "v1"),
    load: async (name, options) => (await importAnthropic()).createAnthropic(options).languageModel(name),
  },
  {
    ...OPENAI,
    provider: "openai",
    defaultModel: "openai/gpt-6.1-sol",
    load: async (name, options) => (await importOpenAI()).createOpenAI(options).responses(name),
  },
  {
    ...OPENAI,
    provider: "openai-chat",
    defaultModel: null,
    load: async (name, options) => (await importOpenAI()).createOpenAI(options).chat(name),
  },
  {
    provider: "google",
    packageName: "@ai-sdk/google",
    keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    keyNeeded: true,
    defaultModel: "google/gemini-4-argon",
    baseUrl(env) {
      const given = firstOf(env, ["GOOGLE_GEMINI_BASE_URL"])?.value;
      return withVersion(given ?? "https://generativelanguage.googleapis.com", "v1beta");
    },
    load: async (name, options) => (await importGoogle()).createGoogle(options).languageModel(name),
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

/** The first of these variables that is set and not blank. */
export function firstOf(
  env: Environment,
  names: readonly string[],
): { readonly name: string; readonly value: string } | null {
  for (const name of names) {
    const value = env[name]?.trim() ?? "";
    if (value !== "") return { name, value };
  }
  return null;
}

async function loadCompatible(
  provider: string,
  model: string,
  { apiKey, ...options }: LoadOptions,
): Promise<LanguageModel> {
  const { createOpenAICompatible } = await importCompatible();
  const compatible = createOpenAICompatible({
    name: provider,
    includeUsage: true,
    ...options,
    ...(apiKey === "" ? {} : { apiKey }),
  });
  return compatible.languageModel(model);
}

/** The secrets in an environment's model settings: every key, and passwords in base URLs. */
export function registrySecrets(env: Environment, baseUrl?: string): readonly string[] {
  const keys = MODEL_SOURCES.flatMap((source) => source.keys).flatMap((name) => env[name] ?? []);
  const urls = MODEL_SOURCES.flatMap((source) => source.baseUrl(env, baseUrl) ?? []);
  const passwords = urls.map((url) => URL.parse(url)?.password ?? "");
  return [...new Set([...keys, ...passwords.flatMap((password) => [password, decoded(password)])])].filter(
    (secret) => secret !== "",
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
