/** Several model providers as one: the first that has the model gives it. */

import type { ModelProvider } from "../../contracts/model.ts";

export function joinProviders(providers: readonly ModelProvider[]): ModelProvider {
  return {
    secrets: providers.flatMap((provider) => provider.secrets ?? []),
    resolve(name) {
      const reasons: string[] = [];
      for (const provider of providers) {
        const found = provider.resolve(name);
        if (!("unavailable" in found)) return found;
        reasons.push(found.unavailable);
      }
      return { unavailable: reasons[0] ?? `There is no model "${name}".` };
    },
  };
}
