/**
 * Owns what a failed call means: whatever the SDK threw or put into its stream becomes a ModelFailure.
 *
 * Invariants:
 *  1. A message names the model and says what the provider said; it holds nothing of the request and no key.
 *  2. Retryable is what may go well the next time: limits, failures of the server, a broken connection or stream.
 *  3. A call that was refused, or that never reached its provider, used nothing. What a broken stream used is unknown where it did not say.
 */

import { errorText } from "../../errors.ts";
import { APICallError } from "@ai-sdk/provider";
import { ModelFailure } from "../../contracts/model.ts";
import type { Usage } from "../../core/values/message.ts";
import { contextOverflowIs } from "./context-overflow.ts";
import { retryAfterMs } from "./retry-after.ts";

export interface CallSituation {
  readonly model: string;
  readonly usage: Usage | null;
  /** Wall-clock time. */
  readonly now: number | undefined;
  /** True once the stream has begun: what breaks then is the connection. */
  readonly streaming: boolean;
}

/** What is known of an error, whichever shape it came in. */
interface Particulars {
  readonly message: string;
  readonly status: number | undefined;
  readonly retryable: boolean | undefined;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const MESSAGE_LENGTH = 500;
const NOTHING: Usage = { input: 0, output: 0 };
/** A 429 that no waiting mends. */
const NO_CREDIT = /insufficient_quota|billing_hard_limit|credit balance is too low/;

export function callFailure(error: unknown, situation: CallSituation): ModelFailure {
  const known = failureWithin(error);
  if (known !== null) return known;
  const { message, status, retryable, body, headers } = particularsOf(error);
  const { model, now, streaming } = situation;
  const said = sentence(message);
  const usage = situation.usage ?? (streaming ? null : NOTHING);
  const options = { cause: error, ...(usage === null ? {} : { usage }) };
  const text = `${message} ${body}`;
  if (contextOverflowIs(status, text))
    return new ModelFailure("context-overflow", `The request is too long for ${model}: ${said}`, options);
  if (status === undefined || status < 400) {
    // Without a status it was the network, or the stream was not what it should be.
    const broken = retryable ?? (streaming || status !== undefined);
    const what = streaming ? `The stream of ${model} broke off` : `${model} could not be reached`;
    return new ModelFailure("provider-error", `${what}: ${said}`, { ...options, retryable: broken });
  }
  const wait = retryAfterMs(headers, body, now);
  return new ModelFailure("provider-error", `${model} answered with status ${status}: ${said}`, {
    ...options,
    retryable: (retryable ?? retryableStatusIs(status)) && !NO_CREDIT.test(text),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}

/** A failure of the adapter's own, which the SDK may have wrapped. */
function failureWithin(error: unknown): ModelFailure | null {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof ModelFailure) return one;
  return null;
}

/** Names of the number of tokens that a reply may have, and the words of servers that count it into their window. */
const OUTPUT_TOKENS = /max_?(?:completion|output|new)?_?tokens|in the completion/i;

/** The server refused the number of tokens that the reply may have. */
export function outputRefusalIs(error: unknown): boolean {
  const { status, message, body } = particularsOf(error);
  return (status === 400 || status === 422) && OUTPUT_TOKENS.test(`${message} ${body}`);
}

/** A stream that ended without saying why. */
export function cutFailure(model: string, usage: Usage | null): ModelFailure {
  return new ModelFailure("provider-error", `The stream of ${model} ended before the reply was whole.`, {
    retryable: true,
    ...(usage === null ? {} : { usage }),
  });
}

/** A stream whose end says that the reply failed, such as a tool call that the provider could not read. */
export function failedFailure(model: string, usage: Usage | null): ModelFailure {
  return new ModelFailure("provider-error", `${model} ended its reply with an error and gave no reason.`, {
    retryable: true,
    ...(usage === null ? {} : { usage }),
  });
}

export function silenceFailure(model: string, milliseconds: number, usage: Usage | null): ModelFailure {
  return new ModelFailure(
    "provider-error",
    `${model} sent nothing of its reply for ${milliseconds / 1_000} seconds, and was cut off.`,
    { retryable: true, ...(usage === null ? {} : { usage }) },
  );
}

export function abortedFailure(model: string, usage: Usage | null): ModelFailure {
  return new ModelFailure("aborted", `The call of ${model} was aborted.`, usage === null ? {} : { usage });
}

function particularsOf(error: unknown): Particulars {
  if (APICallError.isInstance(error)) {
    const { statusCode, responseBody = "", responseHeaders = {} } = error;
    return {
      message: error.message === "" ? responseBody : error.message,
      status: statusCode,
      // Where there is no status to tell, the SDK's "no" means that it does not know.
      retryable: error.isRetryable || (statusCode !== undefined && statusCode >= 400 ? false : undefined),
      body: responseBody,
      headers: responseHeaders,
    };
  }
  const nothing = { status: undefined, retryable: undefined, body: "", headers: {} };
  if (error instanceof Error) return { ...nothing, message: error.message };
  if (typeof error !== "object" || error === null) return { ...nothing, message: errorText(error) };
  // An error of the stream: the provider's own object, sometimes with what the SDK makes of it.
  const { message, statusCode, isRetryable, code } = error as Readonly<Record<string, unknown>>;
  const status = typeof statusCode === "number" ? statusCode : typeof code === "number" ? code : undefined;
  return {
    ...nothing,
    message: typeof message === "string" ? message : JSON.stringify(error),
    status,
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
  return short === "" ? "it gave no reason." : /[.!?…]$/.test(short) ? short : `${short}.`;
}
