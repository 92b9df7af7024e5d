/**
 * Calls a model within the limits of its tree: bytes, tokens and time of the reply. Every model call passes through
 * here. A model that sends nothing is ended only by its own timeout and by the deadlines of turns and runs.
 *
 * Invariants:
 *  1. A call that reaches a limit ends, whether or not the model obeys its signal. Nothing is passed to `onText`
 *     afterwards.
 *  2. It ends with the failure `reply-limit`, which is not retried: a second try would cost the same again.
 *  3. The received bytes are counted as they arrive, and not kept.
 *  4. A complete reply is refused if its provider counts far more tokens than the limit. The count includes reasoning
 *     that never arrives as text, so that nothing else would bound it.
 */

import { type Model, type ModelCallOptions, ModelFailure, type ModelRequest } from "../../contracts/model.ts";
import type { CancelTimer, World } from "../../contracts/world.ts";
import { LIMITS, type Settings } from "../../core/values/limits.ts";
import type { ReplyPart, Usage } from "../../core/values/message.ts";
import { wholeNumber } from "../../plain-json.ts";
import { MOST_TOKENS, usageOf } from "./parse-reply.ts";

/** The bounds of one reply; null for no bound. */
export interface ReplyBounds {
  readonly tokens: number | null;
  readonly bytes: number;
  readonly seconds: number | null;
}

/** Only the provider counts tokens. No language needs more bytes for a token, so a longer reply exceeds its tokens. */
const BYTES_PER_TOKEN = 16;
/** About this many bytes of text or code are a token: to estimate what an aborted reply has used. */
const USUAL_BYTES_PER_TOKEN = 4;
/**
 * A provider's count may exceed the number that it was sent, because some count reasoning apart from it. Usual text
 * reaches BYTES_PER_TOKEN at this multiple too, so both bounds mean a provider that ignores the number.
 */
const COUNT_FACTOR = 4;
/** Older turns are summarised at 80 % of a window, so this part of it is free for the reply. */
const WINDOW_SHARE = 0.2;
/** Of one piece. More would end any reply, and sums of this many stay exact. */
const MOST_PIECE_BYTES = 1_000_000_000_000;
/** How long an aborted model may take to report what it has used. */
const USAGE_WAIT_MS = 1_000;

/** Trees of earlier versions were opened without these limits, and have the defaults. */
export function replyBounds(settings: Settings | null): ReplyBounds {
  const limits: { readonly [name: string]: number | null | undefined } = settings?.limits ?? {};
  const { replyTokens = LIMITS.replyTokens.default, replySeconds = LIMITS.replySeconds.default } = limits;
  const { replyBytes = LIMITS.replyBytes.default } = limits;
  return { tokens: replyTokens, bytes: replyBytes ?? LIMITS.replyBytes.cap, seconds: replySeconds };
}

/** For the provider: some refuse a request if its context and its reply together could exceed the window. */
export function maxOutputTokens(tokens: number | null, window: number | null): number | undefined {
  if (tokens === null) return undefined;
  return window === null ? tokens : Math.max(1, Math.min(tokens, Math.floor(window * WINDOW_SHARE)));
}

/** A bound that was reached. */
interface Reached {
  readonly name: "replyTokens" | "replyBytes" | "replySeconds";
  readonly most: number;
}

interface BoundedCall {
  readonly model: Model;
  readonly request: ModelRequest;
  readonly options: Pick<ModelCallOptions, "signal" | "onText">;
  readonly bounds: ReplyBounds;
  readonly world: Pick<World, "after">;
  /** What the call probably uses, if its provider does not say. */
  readonly estimate: Usage;
}

/** Resolves with the value that the model returned. */
export async function callWithin(call: BoundedCall): Promise<unknown> {
  const { model, request, options, bounds, world } = call;
  const cut = new AbortController();
  const { promise: over, resolve: reach } = Promise.withResolvers<Reached>();
  let ended = false;
  let texts = 0;
  let received = 0;
  let timed = false;
  let cancelTimer: CancelTimer = () => undefined;

  function end(limit: Reached): void {
    if (ended) return;
    ended = true;
    reach(limit);
    cut.abort();
  }
  function count(): void {
    const { seconds } = bounds;
    if (seconds !== null && !timed) {
      timed = true;
      cancelTimer = world.after(seconds * 1_000, () => end({ name: "replySeconds", most: seconds }));
    }
    const limit = limitReached(Math.max(texts, received), bounds);
    if (limit !== null) end(limit);
  }
  const { signal, onText } = options;
  const onAbort = (): void => cut.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) cut.abort();
  try {
    const settled = settledOf(() =>
      model.call(request, {
        signal: cut.signal,
        onText(delta) {
          if (ended) return;
          texts += Buffer.byteLength(delta);
          count();
          if (!ended) onText?.(delta);
        },
        onReceived(bytes) {
          if (ended) return;
          received += wholeNumber(bytes, MOST_PIECE_BYTES) ?? 0;
          count();
        },
      }),
    );
    const first = await Promise.race([over, settled]);
    if ("reply" in first) return first.reply;
    if ("thrown" in first) throw first.thrown;
    const { promise: noUsage, resolve: stop } = Promise.withResolvers<null>();
    const cancelWait = world.after(USAGE_WAIT_MS, () => stop(null));
    const last = await Promise.race([settled, noUsage]);
    cancelWait();
    throw overLimit(request.model, first, usageAfter(last, call.estimate, Math.max(texts, received)));
  } finally {
    ended = true;
    cancelTimer();
    signal.removeEventListener("abort", onAbort);
  }
}

/** Throws a ModelFailure if a complete reply, which may not have been counted, is too long. */
export function requireWithin(
  model: string,
  parts: readonly ReplyPart[],
  usage: Usage | null,
  bounds: ReplyBounds,
): void {
  let limit = limitReached(bytesOf(parts), bounds);
  // Data of the provider, such as signatures, are not tokens.
  if (limit?.name === "replyTokens") limit = limitReached(bytesOf(parts.map(withoutData)), bounds);
  if (limit !== null) throw overLimit(model, limit, usage);
  const { tokens } = bounds;
  const counted = usage === null || usage.estimated === true ? 0 : usage.output;
  // The largest count stands for a number that cannot be one (parse-reply.ts).
  if (tokens === null || counted <= tokens * COUNT_FACTOR || counted >= MOST_TOKENS) return;
  const message =
    `The reply of ${model} has ${counted} tokens by its provider's count, where ${tokens} are allowed, ` +
    "and was not used; limits.replyTokens allows more.";
  throw new ModelFailure("reply-limit", message, { usage });
}

function bytesOf(parts: readonly ReplyPart[]): number {
  return Buffer.byteLength(JSON.stringify(parts));
}

function withoutData(part: ReplyPart): ReplyPart {
  return part.type === "reasoning" ? { type: part.type, text: part.text } : part;
}

/** The bound that this many bytes exceed, or null. */
function limitReached(received: number, { tokens, bytes }: Pick<ReplyBounds, "tokens" | "bytes">): Reached | null {
  if (received > bytes) return { name: "replyBytes", most: bytes };
  if (tokens !== null && received > tokens * BYTES_PER_TOKEN) return { name: "replyTokens", most: tokens };
  return null;
}

const EXCEEDED = {
  replyBytes: (most: number) => `is longer than ${most} bytes`,
  replyTokens: (most: number) => `is longer than ${most} tokens can be`,
  replySeconds: (most: number) => `took longer than ${most} seconds`,
} as const;

function overLimit(model: string, { name, most }: Reached, usage: Usage | null): ModelFailure {
  return new ModelFailure(
    "reply-limit",
    `The reply of ${model} ${EXCEEDED[name](most)} and was cut off; limits.${name} allows more.`,
    usage === null ? {} : { usage },
  );
}

type Settled = { readonly reply: unknown } | { readonly thrown: unknown };

/** Never rejects, so that a model that fails long after it was aborted causes no unhandled rejection. */
async function settledOf(work: () => unknown): Promise<Settled> {
  try {
    return { reply: await work() };
  } catch (thrown) {
    return { thrown };
  }
}

/**
 * What an aborted call has used. A provider's early count covers little of the reply: then the bytes are the estimate.
 */
function usageAfter(last: Settled | null, estimate: Usage, received: number): Usage {
  const reported = last === null ? null : usageOf(last);
  const output = Math.ceil(received / USUAL_BYTES_PER_TOKEN);
  if (reported !== null && reported.output >= output) return reported;
  const known = reported ?? estimate;
  return { ...known, output: Math.max(known.output, output), estimated: true };
}
