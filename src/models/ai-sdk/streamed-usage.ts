/**
 * Reads the usage in raw chunks of a stream. The SDK reports usage at the end only; this is for calls that end before
 * that: aborted, cut off or failed.
 *
 * It knows the formats of Anthropic messages, OpenAI chat and responses, and Google.
 */

import type { Usage } from "../../core/values/message.ts";

export type PartialUsage = Partial<Pick<Usage, "input" | "output" | "cachedInput">>;

type Fields = Readonly<Record<string, unknown>>;

/** The usage in a chunk; empty if it has none. */
export function usageOfChunk(chunk: unknown): PartialUsage {
  const fields = fieldsOf(chunk);
  const google = fieldsOf(fields["usageMetadata"]);
  if (google["promptTokenCount"] !== undefined) {
    const output = (count(google["candidatesTokenCount"]) ?? 0) + (count(google["thoughtsTokenCount"]) ?? 0);
    return partialUsage(count(google["promptTokenCount"]), output, count(google["cachedContentTokenCount"]));
  }
  const usage = fieldsOf(
    fields["usage"] ?? fieldsOf(fields["message"])["usage"] ?? fieldsOf(fields["response"])["usage"],
  );
  if (usage["prompt_tokens"] !== undefined) {
    const cached = count(fieldsOf(usage["prompt_tokens_details"])["cached_tokens"]);
    return partialUsage(count(usage["prompt_tokens"]), count(usage["completion_tokens"]), cached);
  }
  const input = count(usage["input_tokens"]);
  const output = count(usage["output_tokens"]);
  const details = usage["input_tokens_details"];
  if (details !== undefined && details !== null)
    return partialUsage(input, output, count(fieldsOf(details)["cached_tokens"]));
  // Anthropic does not include in the input what its cache read and wrote.
  if (input === undefined) return partialUsage(undefined, output, undefined);
  const cached = count(usage["cache_read_input_tokens"]);
  return partialUsage(input + (cached ?? 0) + (count(usage["cache_creation_input_tokens"]) ?? 0), output, cached);
}

/** The usage seen so far; null while the input is not known. */
export function usageSeen({ input, output = 0, cachedInput }: PartialUsage): Usage | null {
  if (input === undefined) return null;
  return { input, output, ...(cachedInput === undefined ? {} : { cachedInput }) };
}

function partialUsage(input: number | undefined, output: number | undefined, cached: number | undefined): PartialUsage {
  return {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(cached === undefined || cached === 0 ? {} : { cachedInput: cached }),
  };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
