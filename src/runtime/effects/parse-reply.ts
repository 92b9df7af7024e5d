/**
 * What a model gave as its reply, made fit for the journal: parts that are plain JSON and known to the kernel, and a known reason to stop.
 * A model of the user's own may give anything.
 */

import { errorText } from "../../errors.ts";
import { ModelFailure, type ModelReply } from "../../contracts/model.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import { type ReplyPart, replyPartsOf, type Usage } from "../../core/values/message.ts";
import { PLAIN_DEPTH, plainJson, wholeNumber } from "../../plain-json.ts";
import { usageTold } from "./parse-usage.ts";

const STOPS = ["end", "tools", "length", "refused"] as const;
const CODES = ["provider-error", "context-overflow", "reply-limit", "aborted", "refused"] as const;
/** A call's arguments may have the usual depth, and stand some levels below the reply. */
const REPLY_DEPTH = PLAIN_DEPTH + 8;
/** More than the kernel waits: a provider that asks for so long is not waited for. */
const LONGEST_WAIT_MS = 86_400_000;

/** Throws a ModelFailure if it is no reply, or too large to be one. */
export function replyTold(given: unknown): ModelReply {
  const { parts: told, usage, stop } = membersOf(given, ["parts", "usage", "stop"]);
  const used = usageTold(usage);
  const parts = partsTold(told, used);
  return { parts, usage: used, stop: STOPS.find((known) => known === stop) ?? stopOf(parts) };
}

function partsTold(given: unknown, usage: Usage | null): readonly ReplyPart[] {
  const plain = plainJson(given, { depth: REPLY_DEPTH });
  if ("problem" in plain) throw notReply(plain.problem, plain.large === true ? "reply-limit" : "provider-error", usage);
  const { json } = plain;
  if (!Array.isArray(json)) throw notReply("it has no list of parts");
  const parts: ReplyPart[] = [];
  for (const [index, part] of (json as readonly Json[]).entries()) {
    // As it was given: a journal keeps the order of its members.
    if (partIs(part)) parts.push(part);
    else if (!unknownPartIs(part)) throw notReply(`its part ${index + 1} is not one`);
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

function stopOf(parts: readonly ReplyPart[]): ModelReply["stop"] {
  return parts.some((part) => part.type === "tool-call") ? "tools" : "end";
}

function notReply(
  problem: string,
  code: ModelFailure["code"] = "provider-error",
  usage: Usage | null = null,
): ModelFailure {
  const options = usage === null ? {} : { usage };
  return new ModelFailure(code, `The model gave something that is not a reply: ${problem}.`, options);
}

/** Members of a value that may be anything; undefined where it has none, or where reading it throws. */
export function membersOf<Name extends string>(
  value: unknown,
  names: readonly Name[],
): Readonly<Partial<Record<Name, unknown>>> {
  const members: Partial<Record<Name, unknown>> = {};
  if (typeof value !== "object" || value === null) return members;
  for (const name of names) {
    try {
      members[name] = (value as Readonly<Record<string, unknown>>)[name];
    } catch {
      // A getter or a proxy of the user's: the member counts as missing.
      members[name] = undefined;
    }
  }
  return members;
}

/** Whatever a model threw, as a failure. */
export function failureOf(thrown: unknown): ModelFailure {
  try {
    if (thrown instanceof ModelFailure) return thrown;
  } catch {
    // A proxy of the user's: it is told like any other value.
  }
  return new ModelFailure("provider-error", errorText(thrown), { cause: thrown });
}

/** What a failure says beside its words, as the kernel records it. */
export function failureTold(
  failure: ModelFailure,
): Pick<ModelFailure, "code" | "retryable" | "retryAfterMs" | "usage"> {
  const members = membersOf(failure, ["code", "retryable", "retryAfterMs", "usage"]);
  return {
    code: CODES.find((known) => known === members.code) ?? "provider-error",
    retryable: members.retryable === true,
    retryAfterMs: wholeNumber(members.retryAfterMs, LONGEST_WAIT_MS) ?? undefined,
    usage: usageTold(members.usage),
  };
}
