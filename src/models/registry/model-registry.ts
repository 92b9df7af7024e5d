/**
 * Owns the finding of real models by `provider/name`: what is needed for each, and the sentence that says what is missing.
 *
 * Invariants:
 *  1. `resolve` loads nothing and reaches for nothing: a provider's package is imported by the first call.
 *  2. What cannot be had is said in words that a user can act on, never with a key in them.
 */

import type { Model, ModelProvider } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import type { Patience } from "../ai-sdk/watchdog.ts";
import { lazyModel } from "../lazy-model.ts";
import { modelFactsOf, type PriceTable } from "../prices.ts";
import { baseUrlIs } from "./base-url.ts";
import { createBoundedFetch } from "./bounded-fetch.ts";
import { type Environment, firstOf } from "./environment.ts";
import { packageIsInstalled } from "./installed.ts";
import { MODEL_SOURCES, type ModelSource } from "./model-sources.ts";
import { registrySecrets } from "./registry-secrets.ts";

export interface ModelRegistryOptions extends Partial<Patience> {
  /** Where keys and base URLs are looked up. */
  readonly env: Environment;
  /** For the watchdog over silent streams. */
  readonly world: World;
  /** Where `openai-compatible/NAME` is; else `OPENAI_COMPATIBLE_BASE_URL`. */
  readonly baseUrl?: string;
  /** Prices and windows that go before the built-in ones. */
  readonly prices?: PriceTable;
  /** Says whether a package can be imported. Default: looks beside Errand. */
  readonly installed?: (packageName: string) => boolean;
}

export function createModelRegistry(options: ModelRegistryOptions): ModelProvider {
  const { env, prices, installed = packageIsInstalled } = options;
  const models = new Map<string, Model>();

  return {
    secrets: registrySecrets(env, options.baseUrl),
    resolve(name) {
      const slash = name.indexOf("/");
      const source = MODEL_SOURCES.find(({ provider }) => provider === name.slice(0, Math.max(0, slash)));
      if (source === undefined || slash === name.length - 1) return { unavailable: unknownName(name) };
      const { packageName, keys, keyNeeded } = source;
      const key = firstOf(env, keys)?.value ?? "";
      if (key === "" && keyNeeded) return { unavailable: `The model ${name} needs a key: set ${keys.join(" or ")}.` };
      const baseUrl = source.baseUrl(env, options.baseUrl);
      if (baseUrl === null)
        return {
          unavailable: `The model ${name} needs a base URL: give --base-url, or set OPENAI_COMPATIBLE_BASE_URL.`,
        };
      if (!baseUrlIs(baseUrl))
        return { unavailable: `The base URL of ${name} is no URL with http or https: ${baseUrl}.` };
      if (!installed(packageName))
        return { unavailable: `The model ${name} needs a package that is not installed: npm install ${packageName}.` };
      const model = models.get(name) ?? lazyModel(() => load(source, name, baseUrl, key));
      models.set(name, model);
      return { model, facts: modelFactsOf(name, prices) };
    },
  };

  async function load(source: ModelSource, name: string, baseUrl: string, key: string): Promise<Model> {
    const [{ createAiSdkModel }, languageModel] = await Promise.all([
      import("../ai-sdk/ai-sdk-model.ts"),
      source.load(name.slice(name.indexOf("/") + 1), { baseURL: baseUrl, apiKey: key, fetch: createBoundedFetch() }),
    ]);
    const { world, silenceMs, standstillMs } = options;
    return createAiSdkModel(languageModel, {
      name,
      world,
      ...(silenceMs === undefined ? {} : { silenceMs }),
      ...(standstillMs === undefined ? {} : { standstillMs }),
    });
  }
}

function unknownName(name: string): string {
  const forms = MODEL_SOURCES.map(({ provider }) => `${provider}/NAME`);
  return `There is no provider for the model "${name}"; a model is named ${forms.slice(0, -1).join(", ")} or ${forms.at(-1)}.`;
}

/** Says whether a package can be imported from beside Errand. */
