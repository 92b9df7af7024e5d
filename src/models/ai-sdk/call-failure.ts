/**
 * Classifies the errors of a call: whatever the SDK threw or put into its stream becomes a ModelFailure.
 *
 * Invariants:
 *  1. A message names the model and quotes the provider. It holds nothing of the request and no key.
 *  2. Retryable are errors that may not happen again: rate limits, server errors, a broken connection or stream.
 *  3. A request that was refused, or never reached the provider, used nothing. The usage of a broken stream is unknown
 *     unless the provider reported it.
 */

import { APICallError } from "@ai-sdk/provider";
import { ModelFailure } from "../../contracts/model.ts";
import type { Usage } from "../../core/values/message.ts";
import { errorText } from "../../errors.ts";
import { retryAfterMs } from "./retry-after.ts";

export interface CallSituation {
  readonly model: string;
  readonly usage: Usage | null;
  /** Wall-clock time. */
  readonly now: number | undefined;
  /** True once the stream has begun. */
  readonly streaming: boolean;
}

interface ErrorDetails {
  readonly message: string;
  readonly status: number | undefined;
  readonly retryable: boolean | undefined;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const MESSAGE_LENGTH = 500;
const NOTHING_USED: Usage = { input: 0, output: 0 };

/** Status 429 with these words means that waiting does not help. */
const NO_CREDIT = /insufficient_quota|billing_hard_limit|credit balance is too low/;

/** Names of the parameter for reply tokens, and what servers say that count the reply as part of the context window. */
const TOKEN_LIMIT = /max_?(?:completion|output|new)?_?tokens|in the completion/i;

/** Providers have no common code for a request that is too long, only these words. In lower case. */
const CONTEXT_OVERFLOW = [
  "prompt is too long", // Anthropic
  "exceed context limit", // Anthropic: input and max_tokens together
  "request_too_large", // Anthropic
  "context_length_exceeded", // OpenAI
  "maximum context length", // OpenAI, vLLM, OpenRouter, Mistral
  "exceeds the context window", // OpenAI responses
  "input token count", // Google: "The input token count (…) exceeds the maximum number of tokens allowed"
  "exceed_context_size", // llama.cpp
  "exceeds the available context size", // llama.cpp
  "greater than the context length", // LM Studio
  "longer than the maximum model length", // vLLM
  "maximum prompt length", // xAI
  "reduce the length of the messages", // Groq
  "exceeded model token limit", // Moonshot
  "context window exceeds limit", // MiniMax
  "input is too long for requested model", // Bedrock
] as const;

/** Under these statuses the words above are about the request. A 429 that speaks of tokens is about the quota. */
const OVERFLOW_STATUSES: ReadonlySet<number | undefined> = new Set([undefined, 400, 413, 422]);

export function callFailure(error: unknown, situation: CallSituation): ModelFailure {
  const own = modelFailureIn(error);
  if (own !== null) return own;
  const { message, status, retryable, body, headers } = detailsOf(error);
  const { model, now, streaming } = situation;
  const quoted = sentence(message);
  const text = `${message} ${body}`;
  const options = { cause: error, usage: situation.usage ?? (streaming ? null : NOTHING_USED) };
  if (contextOverflowIs(status, text))
    return new ModelFailure("context-overflow", `The request is too long for ${model}: ${quoted}`, options);
  if (status === undefined || status < 400) {
    // The connection failed, or the stream was malformed.
    const problem = streaming ? `The stream of ${model} broke off` : `${model} could not be reached`;
    return new ModelFailure("provider-error", `${problem}: ${quoted}`, {
      ...options,
      retryable: retryable ?? (streaming || status !== undefined),
    });
  }
  const wait = retryAfterMs(headers, body, now);
  return new ModelFailure("provider-error", `${model} answered with status ${status}: ${quoted}`, {
    ...options,
    retryable: (retryable ?? retryableStatusIs(status)) && !NO_CREDIT.test(text),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}

/** True if the server refused the number of tokens that the reply may have. */
export function tokenLimitRefused(error: unknown): boolean {
  const { status, message, body } = detailsOf(error);
  return (status === 400 || status === 422) && TOKEN_LIMIT.test(`${message} ${body}`);
}

/** A ModelFailure of Errand, which the SDK may have wrapped. */
function modelFailureIn(error: unknown): ModelFailure | null {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof ModelFailure) return one;
  return null;
}

function contextOverflowIs(status: number | undefined, text: string): boolean {
  if (status === 413) return true;
  const lower = text.toLowerCase();
  return OVERFLOW_STATUSES.has(status) && CONTEXT_OVERFLOW.some((words) => lower.includes(words));
}

function detailsOf(error: unknown): ErrorDetails {
  if (APICallError.isInstance(error)) {
    const { statusCode, responseBody = "", responseHeaders = {} } = error;
    return {
      message: error.message === "" ? responseBody : error.message,
      status: statusCode,
      // Without a status, `isRetryable: false` only means that the SDK does not know.
      retryable: error.isRetryable || (statusCode !== undefined && statusCode >= 400 ? false : undefined),
      body: responseBody,
      headers: responseHeaders,
    };
  }
  const unknown = { status: undefined, retryable: undefined, body: "", headers: {} };
  if (error instanceof Error) return { ...unknown, message: error.message };
  if (typeof error !== "object" || error === null) return { ...unknown, message: errorText(error) };
  // An error in the stream: the provider's own object, sometimes with fields of the SDK.
  const { message, statusCode, isRetryable, code } = error as Readonly<Record<string, unknown>>;
  return {
    ...unknown,
    message: typeof message === "string" ? message : JSON.stringify(error),
    status: [statusCode, code].find((value) => typeof value === "number"),
    retryable: typeof isRetryable === "boolean" ? isRetryable : undefined,
    body: JSON.stringify(error),
  };
}

function retryableStatusIs(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function sentence(message: string): string {
  const line = message.replaceAll(/\s+/g, " ").trim();
  const short = line.length > MESSAGE_LENGTH ? `${line.slice(0, MESSAGE_LENGTH)}…` : line;
  if (short === "") return "it gave no reason.";
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}
