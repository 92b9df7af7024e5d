/** A provider of AI SDK language models that the program itself made. */

import type { ModelProvider } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import { lazyModel } from "../lazy-model.ts";
import { modelFactsOf, type PriceTable } from "../prices.ts";
import type { LanguageModel } from "./provider-settings.ts";

/** The keys of `languageModels` are the names under which agents ask for them. */
export function createAiSdkModels(
  languageModels: Readonly<Record<string, LanguageModel>>,
  { world, prices }: { readonly world?: World; readonly prices?: PriceTable } = {},
): ModelProvider {
  const models = new Map(
    Object.entries(languageModels).map(([name, model]) => [
      name,
      lazyModel(async () => (await import("./ai-sdk-model.ts")).createAiSdkModel(model, name, world)),
    ]),
  );
  return {
    resolve(name) {
      const model = models.get(name);
      if (model === undefined)
        return { unavailable: `There is no model ${name} here; there are ${[...models.keys()].join(", ")}.` };
      return { model, facts: modelFactsOf(name, prices) };
    },
  };
}
