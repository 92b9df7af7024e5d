/** Money, in whole micro-dollars. */

import type { ModelPrice } from "../values/definition.ts";
import type { Usage } from "../values/message.ts";

const MILLION = 1_000_000;

/** What a call costs, rounded up so that a budget is never undercounted; 0 when the price is unknown. */
export function modelCost(price: ModelPrice | null, usage: Usage): number {
  if (price === null) return 0;
  const cached = Math.min(usage.cachedInput ?? 0, usage.input);
  const fresh = usage.input - cached;
  return Math.ceil((fresh * price.input + cached * price.cachedInput + usage.output * price.output) / MILLION);
}
