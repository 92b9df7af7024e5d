/** Several model providers as one: the first that has the model gives it. */

import { errorText } from "../../errors.ts";
import type { Model, ModelFacts, ModelProvider } from "../../contracts/model.ts";
import { jsonObjectIs } from "../../core/values/json.ts";
import { membersOf, plainJson, wholeNumber } from "../../plain-json.ts";

/**
 * More than any window, and in micro-dollars more than any price of a million tokens: sums of what calls cost stay
 * exact.
 */
const MOST = 1_000_000_000;

export function joinProviders(providers: readonly ModelProvider[]): ModelProvider {
  return {
    secrets: providers.flatMap((provider) => provider.secrets ?? []),
    resolve(name) {
      const reasons: string[] = [];
      for (const provider of providers) {
        const found = resolved(provider, name);
        if (!("unavailable" in found)) return found;
        reasons.push(found.unavailable);
      }
      return { unavailable: reasons[0] ?? `There is no model "${name}", because no model provider is given.` };
    },
  };
}

/** A provider of the user's own may throw or give anything: then it does not have the model. */
function resolved(provider: ModelProvider, name: string): ReturnType<ModelProvider["resolve"]> {
  try {
    const found: unknown = provider.resolve(name);
    const { unavailable, model, facts } = membersOf(found, ["unavailable", "model", "facts"]);
    if (typeof membersOf(model, ["call"]).call === "function")
      return { model: model as Model, facts: factsTold(facts) };
    return { unavailable: typeof unavailable === "string" ? unavailable : `There is no model "${name}".` };
  } catch (error) {
    return { unavailable: `The provider of ${name} failed: ${errorText(error)}` };
  }
}

/** The facts are recorded, and money is counted by them: what is no whole number from 0 is unknown. */
function factsTold(facts: unknown): ModelFacts {
  const plain = plainJson(facts);
  if ("problem" in plain || !jsonObjectIs(plain.json)) return { window: null, price: null };
  const { window, price } = plain.json;
  const tokens = wholeNumber(window, MOST);
  const input = jsonObjectIs(price) ? wholeNumber(price["input"], MOST) : null;
  const output = jsonObjectIs(price) ? wholeNumber(price["output"], MOST) : null;
  const cachedInput = jsonObjectIs(price) ? wholeNumber(price["cachedInput"], MOST) : null;
  const known = input !== null && output !== null && cachedInput !== null;
  return { window: tokens === 0 ? null : tokens, price: known ? { input, output, cachedInput } : null };
}
