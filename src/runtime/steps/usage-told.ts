/**
 * What a provider says a call has used, made fit for a ledger: whole tokens, none below zero, bounded. Counts are the provider's word, but no word of
 * it lowers what was booked. What says nothing usable is null, and is booked at an estimate.
 */

import type { Usage } from "../../core/message.ts";

/** More than any call can use: sums of it stay exact. */
const MOST_TOKENS = 1_000_000_000;

export function usageTold(usage: unknown): Usage | null {
  if (typeof usage !== "object" || usage === null) return null;
  const { input: read, output: written, cachedInput } = usage as { readonly [Key in keyof Usage]?: unknown };
  const input = tokens(read);
  const output = tokens(written);
  if (input === null || output === null) return null;
  const cached = tokens(cachedInput);
  const estimated = "estimated" in usage && usage.estimated === true;
  return {
    input,
    output,
    ...(cached === null ? {} : { cachedInput: Math.min(cached, input) }),
    ...(estimated ? { estimated } : {}),
  };
}

/** Null for what is no number of tokens. */
function tokens(value: unknown): number | null {
  if (typeof value !== "number" || Number.isNaN(value) || value < 0) return null;
  return Math.min(Math.ceil(value), MOST_TOKENS);
}
