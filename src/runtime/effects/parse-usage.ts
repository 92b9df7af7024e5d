/**
 * What a provider says a call has used, made fit for a ledger: whole tokens, none below zero, bounded. Counts are the provider's word, but no word of
 * it lowers what was booked. What says nothing usable is null, and is booked at an estimate.
 */

import type { Usage } from "../../core/values/message.ts";
import { wholeNumber } from "../../plain-json.ts";

/** More than any call can use: sums of it stay exact. */
const MOST_TOKENS = 1_000_000_000;

export function usageTold(usage: unknown): Usage | null {
  const { input, output, cached, estimated } = countsOf(usage);
  if (input === null || output === null) return null;
  return {
    input,
    output,
    ...(cached === null ? {} : { cachedInput: Math.min(cached, input) }),
    ...(estimated ? { estimated } : {}),
  };
}

interface Counts {
  readonly input: number | null;
  readonly output: number | null;
  readonly cached: number | null;
  readonly estimated: boolean;
}

/** Read member by member: plain JSON would make null of Infinity, which is a count beyond the bound. */
function countsOf(usage: unknown): Counts {
  try {
    if (typeof usage !== "object" || usage === null) return UNKNOWN;
    const count = (name: string): number | null => wholeNumber(Reflect.get(usage, name), MOST_TOKENS);
    const estimated = Reflect.get(usage, "estimated") === true;
    return { input: count("input"), output: count("output"), cached: count("cachedInput"), estimated };
  } catch {
    // A getter or a proxy of the provider's, which may throw anything.
    return UNKNOWN;
  }
}

const UNKNOWN: Counts = { input: null, output: null, cached: null, estimated: false };
