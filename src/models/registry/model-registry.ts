/**
 * Finds real models by `provider/name`, or says what is missing.
 *
 * Invariants:
 *  1. `resolve` loads nothing and makes no request: a provider's package is imported by the first call.
 *  2. A message says what the user can do. It never holds a key.
 */

import type { Model, ModelProvider } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import { lazyModel } from "../lazy-model.ts";
import { modelFactsOf, type PriceTable } from "../prices.ts";
import { baseUrlIs } from "./base-url.ts";
import { createBoundedFetch } from "./bounded-fetch.ts";
import { type Environment, firstOf, MODEL_SOURCES, type ModelSource, registrySecrets } from "./model-sources.ts";
import { installCommand, packageIsInstalled } from "./provider-packages.ts";

/** Keys, base URLs and prices of the registry. */
export interface ModelRegistryOptions {
  /** The keys and base URLs. */
  readonly env: Environment;
  /** For the time limits of streams. */
  readonly world: World;
  /** The base URL of `openai-compatible/NAME`. Default: `OPENAI_COMPATIBLE_BASE_URL`. */
  readonly baseUrl?: string;
  /** Prices and windows that override the built-in ones. */
  readonly prices?: PriceTable;
  /** True if the package can be imported. Default: looks where your program is installed, and where Errand is. */
  readonly installed?: (packageName: string) => boolean;
}

/** Models by `provider/name`. It loads the provider's package when a model is called first. */
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
        return {
          unavailable: `The model ${name} needs a package that is not installed: ${installCommand(packageName)}.`,
        };
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
    return createAiSdkModel(languageModel, name, options.world);
  }
}

function unknownName(name: string): string {
  const forms = MODEL_SOURCES.map(({ provider }) => `${provider}/NAME`);
  const listed = `${forms.slice(0, -1).join(", ")} or ${forms.at(-1)}`;
  return `There is no provider for the model "${name}"; a model is named ${listed}.`;
}
