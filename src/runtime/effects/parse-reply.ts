/**
 * Parses what a model returns or throws, before it is recorded. A user's model may return any value, and its getters
 * and proxies may throw.
 */

import { ModelFailure, type ModelReply } from "../../contracts/model.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import { type ReplyPart, replyPartsOf, type Usage } from "../../core/values/message.ts";
import { errorText } from "../../errors.ts";
import { membersOf, PLAIN_DEPTH, plainJson, wholeNumber } from "../../plain-json.ts";

const STOPS = ["end", "tools", "length", "refused"] as const;
const CODES = ["provider-error", "context-overflow", "reply-limit", "aborted", "refused"] as const;
/** The arguments of a call may have the usual depth, and are some levels below the reply. */
const REPLY_DEPTH = PLAIN_DEPTH + 8;
/** The kernel never waits longer for a provider. */
const LONGEST_WAIT_MS = 86_400_000;
/** More than any call can use: sums of it stay exact. A larger count is recorded as this. */
export const MOST_TOKENS = 1_000_000_000;

/** Throws a ModelFailure if the value is not a reply, or is too large. */
export function parseReply(value: unknown): ModelReply {
  const { parts: given, usage: counts, stop } = membersOf(value, ["parts", "usage", "stop"]);
  const usage = parseUsage(counts);
  const parts = parseParts(given, usage);
  const implied = parts.some((part) => part.type === "tool-call") ? "tools" : "end";
  return { parts, usage, stop: STOPS.find((known) => known === stop) ?? implied };
}

function parseParts(given: unknown, usage: Usage | null): readonly ReplyPart[] {
  const plain = plainJson(given, { depth: REPLY_DEPTH });
  if ("problem" in plain) throw notReply(plain.problem, plain.large === true ? "reply-limit" : "provider-error", usage);
  const { json } = plain;
  if (!Array.isArray(json)) throw notReply("it has no list of parts");
  const parts: ReplyPart[] = [];
  for (const [index, part] of (json as readonly Json[]).entries()) {
    // Unchanged: a journal keeps the order of members.
    if (partIs(part)) parts.push(part);
    else if (!unknownPartIs(part)) throw notReply(`its part ${index + 1} is invalid`);
  }
  return parts;
}

function partIs(part: Json): part is Json & ReplyPart {
  const [read] = replyPartsOf([part]);
  return read !== undefined && (read.type !== "tool-call" || (jsonObjectIs(part) && part["input"] !== undefined));
}

/** A kind of part that this version does not know is left out. */
function unknownPartIs(part: Json): boolean {
  if (!jsonObjectIs(part)) return false;
  const { type } = part;
  return typeof type === "string" && type !== "text" && type !== "reasoning" && type !== "tool-call";
}

function notReply(
  problem: string,
  code: ModelFailure["code"] = "provider-error",
  usage: Usage | null = null,
): ModelFailure {
  const options = usage === null ? {} : { usage };
  return new ModelFailure(code, `The model returned something that is not a reply: ${problem}.`, options);
}

/**
 * What a provider says a call has used: whole tokens, not negative, and bounded. Null if it says nothing usable: then
 * an estimate is booked.
 */
export function parseUsage(usage: unknown): Usage | null {
  const counts = membersOf(usage, ["input", "output", "cachedInput", "estimated"]);
  const input = wholeNumber(counts.input, MOST_TOKENS);
  const output = wholeNumber(counts.output, MOST_TOKENS);
  const cached = wholeNumber(counts.cachedInput, MOST_TOKENS);
  if (input === null || output === null) return null;
  return {
    input,
    output,
    ...(cached === null ? {} : { cachedInput: Math.min(cached, input) }),
    ...(counts.estimated === true ? { estimated: true } : {}),
  };
}

/** Any thrown value as a failure. */
export function toModelFailure(thrown: unknown): ModelFailure {
  try {
    if (thrown instanceof ModelFailure) return thrown;
  } catch {
    // A user's proxy: handled like any other value.
  }
  return new ModelFailure("provider-error", errorText(thrown), { cause: thrown });
}

/** The members of a failure as the kernel records them. Its message is not part of it. */
export function parseFailure(
  failure: ModelFailure,
): Pick<ModelFailure, "code" | "retryable" | "retryAfterMs" | "usage"> {
  const members = membersOf(failure, ["code", "retryable", "retryAfterMs", "usage"]);
  return {
    code: CODES.find((known) => known === members.code) ?? "provider-error",
    retryable: members.retryable === true,
    retryAfterMs: wholeNumber(members.retryAfterMs, LONGEST_WAIT_MS) ?? undefined,
    usage: parseUsage(members.usage),
  };
}

/** What an unknown value says that its call has used: a reply, or a thrown failure. */
export function usageOf(last: { readonly reply: unknown } | { readonly thrown: unknown }): Usage | null {
  if ("reply" in last) return parseUsage(membersOf(last.reply, ["usage"]).usage);
  return parseFailure(toModelFailure(last.thrown)).usage;
}
