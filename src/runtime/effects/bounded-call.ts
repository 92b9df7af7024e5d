/**
 * Calls a model within the limits of its tree: bytes, tokens and time of the reply. Every model is called through here, also one of the user's own.
 * A model that gives no sign of a reply is left to its own patience and to the deadlines of turns and runs.
 *
 * Invariants:
 *  1. A call that reaches a limit ends, whether or not the model obeys its signal, and nothing of it is passed to `onText` afterwards.
 *  2. It ends with the failure `reply-limit`, which is not retried: a second try would cost the same again.
 *  3. What was received is counted as it arrives and not kept here.
 */

import { type Model, type ModelCallOptions, ModelFailure, type ModelRequest } from "../../contracts/model.ts";
import type { CancelTimer, World } from "../../contracts/world.ts";
import { LIMITS, type Settings } from "../../core/values/limits.ts";
import type { ReplyPart, Usage } from "../../core/values/message.ts";
import { wholeNumber } from "../../plain-json.ts";
import { failureOf, failureTold, membersOf } from "./parse-reply.ts";
import { usageTold } from "./parse-usage.ts";

/** The bounds of one reply; null for no bound. */
export interface ReplyBounds {
  readonly tokens: number | null;
  readonly bytes: number;
  readonly seconds: number | null;
}

/** Only the provider counts tokens. More bytes than this for each allowed token show that it does not keep to them, in any language. */
const BYTES_PER_TOKEN = 16;
/** Text and code have about so many bytes in a token, for an estimate of what a reply without an end has used. */
const USUAL_BYTES_PER_TOKEN = 4;
/** Older turns are summarised at 80 % of a window, so that this part of it is free for the reply. */
const WINDOW_SHARE = 0.2;
/** Of one piece: more ends any reply. Sums of it stay exact. */
const MOST_PIECE_BYTES = 1_000_000_000_000;
/** How long an aborted model may take to say what it has used. */
const USAGE_WAIT_MS = 1_000;

/** Trees of earlier versions were opened without these limits, and have the defaults. */
export function replyBounds(settings: Settings | null): ReplyBounds {
  const limits: { readonly [name: string]: number | null | undefined } = settings?.limits ?? {};
  const { replyTokens = LIMITS.replyTokens.default, replySeconds = LIMITS.replySeconds.default } = limits;
  const { replyBytes = LIMITS.replyBytes.default } = limits;
  return { tokens: replyTokens, bytes: replyBytes ?? LIMITS.replyBytes.cap, seconds: replySeconds };
}

/** What the provider is told: some refuse a request whose context and reply together could not fit the window. */
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
  /** What the call is thought to use, where its provider does not say. */
  readonly estimate: Usage;
}

/** Resolves with whatever the model gave. */
export async function callWithin(call: BoundedCall): Promise<unknown> {
  const { model, request, options, bounds, world } = call;
  const cut = new AbortController();
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let reached: Reached | null = null;
  let ended = false;
  let texts = 0;
  let received = 0;
  let timed = false;
  let cancel: CancelTimer = () => undefined;

  function reach(limit: Reached): void {
    if (ended) return;
    ended = true;
    reached = limit;
    resolve();
    cut.abort();
  }
  function count(): void {
    const { seconds } = bounds;
    if (seconds !== null && !timed) {
      timed = true;
      cancel = world.after(seconds * 1_000, () => reach({ name: "replySeconds", most: seconds }));
    }
    const limit = limitReached(Math.max(texts, received), bounds);
    if (limit !== null) reach(limit);
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
    const first = await Promise.race([settled, over]);
    const limit = limitOf();
    if (limit === null) {
      if (typeof first === "object" && "thrown" in first) throw first.thrown;
      return first?.reply;
    }
    const { promise: tired, resolve: stop } = Promise.withResolvers<null>();
    const cancelWait = world.after(USAGE_WAIT_MS, () => stop(null));
    const last = await Promise.race([settled, tired]);
    cancelWait();
    throw overLimit(request.model, limit, usageAfter(last, call.estimate, Math.max(texts, received)));
  } finally {
    ended = true;
    cancel();
    signal.removeEventListener("abort", onAbort);
  }

  function limitOf(): Reached | null {
    return reached;
  }
}

/** Throws a ModelFailure if a whole reply is longer than it may be: it may have come without being counted. */
export function requireWithin(
  model: string,
  parts: readonly ReplyPart[],
  usage: Usage | null,
  bounds: ReplyBounds,
): void {
  let limit = limitReached(bytesOf(parts), bounds);
  // Data of the provider, such as signatures, are not made of tokens.
  if (limit?.name === "replyTokens") limit = limitReached(bytesOf(parts.map(withoutData)), bounds);
  if (limit !== null) throw overLimit(model, limit, usage);
}

function bytesOf(parts: readonly ReplyPart[]): number {
  return Buffer.byteLength(JSON.stringify(parts));
}

function withoutData(part: ReplyPart): ReplyPart {
  return part.type === "reasoning" ? { type: part.type, text: part.text } : part;
}

/** The bound that so many bytes are beyond; null for none. */
function limitReached(received: number, { tokens, bytes }: Pick<ReplyBounds, "tokens" | "bytes">): Reached | null {
  if (received > bytes) return { name: "replyBytes", most: bytes };
  if (tokens !== null && received > tokens * BYTES_PER_TOKEN) return { name: "replyTokens", most: tokens };
  return null;
}

const BEYOND = {
  replyBytes: (most: number) => `is longer than ${most} bytes`,
  replyTokens: (most: number) => `is longer than ${most} tokens can be`,
  replySeconds: (most: number) => `took longer than ${most} seconds`,
} as const;

function overLimit(model: string, { name, most }: Reached, usage: Usage | null): ModelFailure {
  return new ModelFailure(
    "reply-limit",
    `The reply of ${model} ${BEYOND[name](most)} and was cut off; limits.${name} allows more.`,
    usage === null ? {} : { usage },
  );
}

type Settled = { readonly reply: unknown } | { readonly thrown: unknown };

/** Never rejects, so that a model that fails long after it was given up disturbs nothing. */
async function settledOf(work: () => unknown): Promise<Settled> {
  try {
    return { reply: await work() };
  } catch (thrown) {
    return { thrown };
  }
}

/** What the model said it had used. What a provider says early counts little of the reply: then it is an estimate by what was received. */
function usageAfter(last: Settled | null, estimate: Usage, received: number): Usage {
  const told = last === null ? null : usageSaid(last);
  const output = Math.ceil(received / USUAL_BYTES_PER_TOKEN);
  if (told !== null && told.output >= output) return told;
  const known = told ?? estimate;
  return { ...known, output: Math.max(known.output, output), estimated: true };
}

function usageSaid(last: Settled): Usage | null {
  if ("reply" in last) return usageTold(membersOf(last.reply, ["usage"]).usage);
  return failureTold(failureOf(last.thrown)).usage;
}
