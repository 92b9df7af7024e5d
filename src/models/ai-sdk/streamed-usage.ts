/**
 * Owns the usage that stands in raw chunks, for calls that end before the SDK sums it up: aborted, cut off, failed half-way.
 *
 * It reads the wires of Anthropic messages, OpenAI chat and responses, and Google, and knows nothing of any other.
 */

import type { Usage } from "../../core/values/message.ts";

export type SeenUsage = Partial<Pick<Usage, "input" | "output" | "cachedInput">>;

type Fields = Readonly<Record<string, unknown>>;

/** What a chunk says of usage; nothing when it says nothing. */
export function usageOfChunk(chunk: unknown): SeenUsage {
  const fields = fieldsOf(chunk);
  const google = fieldsOf(fields["usageMetadata"]);
  if (google["promptTokenCount"] !== undefined) {
    const output = (count(google["candidatesTokenCount"]) ?? 0) + (count(google["thoughtsTokenCount"]) ?? 0);
    return seen(count(google["promptTokenCount"]), output, count(google["cachedContentTokenCount"]));
  }
  const usage = fieldsOf(
    fields["usage"] ?? fieldsOf(fields["message"])["usage"] ?? fieldsOf(fields["response"])["usage"],
  );
  if (usage["prompt_tokens"] !== undefined) {
    const cached = count(fieldsOf(usage["prompt_tokens_details"])["cached_tokens"]);
    return seen(count(usage["prompt_tokens"]), count(usage["completion_tokens"]), cached);
  }
  const details = usage["input_tokens_details"];
  if (details !== undefined && details !== null) {
    return seen(count(usage["input_tokens"]), count(usage["output_tokens"]), count(fieldsOf(details)["cached_tokens"]));
  }
  return anthropicUsage(usage);
}

/** Anthropic counts what its cache read and wrote beside the input, not in it. */
function anthropicUsage(usage: Fields): SeenUsage {
  const cached = count(usage["cache_read_input_tokens"]);
  const input = count(usage["input_tokens"]);
  const whole =
    input === undefined ? undefined : input + (cached ?? 0) + (count(usage["cache_creation_input_tokens"]) ?? 0);
  return seen(whole, count(usage["output_tokens"]), whole === undefined ? undefined : cached);
}

function seen(input: number | undefined, output: number | undefined, cached: number | undefined): SeenUsage {
  return {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(cached === undefined || cached === 0 ? {} : { cachedInput: cached }),
  };
}

/** The usage that was seen, if the input is known. */
export function usageOfSeen({ input, output = 0, cachedInput }: SeenUsage): Usage | null {
  if (input === undefined) return null;
  return { input, output, ...(cachedInput === undefined ? {} : { cachedInput }) };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
