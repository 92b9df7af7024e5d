/**
 * The model port. A model is a factory's plain object; Errand's own request and reply are neutral between providers.
 *
 * Promises of a model:
 *  1. `call` resolves with a reply, or rejects with a `ModelFailure`; anything else it throws counts as one that is not retryable.
 *  2. When the signal aborts, the connection is freed at once and `call` rejects.
 *  3. It does not retry by itself: retries are the runtime's, where they are recorded and seen.
 */

import type { ContextMessage, ReplyPart, ToolSpec, Usage } from "../core/values/message.ts";

export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  /** Roles alternate: user, assistant, tool results, … The context's own array: not to be changed, and to be copied if it is kept. */
  readonly messages: readonly ContextMessage[];
  /** The provider is to be told it. The runtime sets it, and stops a reply that goes far beyond it. */
  readonly maxOutputTokens?: number;
}

export interface ModelReply {
  readonly parts: readonly ReplyPart[];
  readonly usage: Usage | null;
  /** Why the model stopped: `end` and `tools` are whole replies, `length` is one cut by the output limit. */
  readonly stop: "end" | "tools" | "length" | "refused";
}

export interface ModelCallOptions {
  readonly signal: AbortSignal;
  /** Live text as it arrives, for people to watch. Not recorded. */
  readonly onText?: (delta: string) => void;
  /**
   * How many bytes of the reply have just arrived: words, reasoning and arguments. The signal aborts when they are too many. A model that
   * does not call it is bounded by its live text, its time and the size of its whole reply.
   */
  readonly onReceived?: (bytes: number) => void;
}

export interface Model {
  call(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply>;
}

/** What can be said of a model before it is called. */
export interface ModelFacts {
  /** The context window in tokens, or null when unknown. */
  readonly window: number | null;
  /** Micro-dollars for a million tokens, or null when unknown. */
  readonly price: { readonly input: number; readonly output: number; readonly cachedInput: number } | null;
}

/** Finds a model by its `provider/name`. */
export interface ModelProvider {
  /** Keys and passwords that its models are called with. They are removed from everything that is recorded. */
  readonly secrets?: readonly string[];
  /** The facts, or a sentence that says why this model cannot be had. */
  resolve(name: string): { readonly model: Model; readonly facts: ModelFacts } | { readonly unavailable: string };
}

/** A model call that did not give a reply. `reply-limit`: the reply was longer, or took longer, than the limits of its tree allow. */
export class ModelFailure extends Error {
  readonly code: "provider-error" | "context-overflow" | "reply-limit" | "aborted" | "refused";
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** What the call used all the same; null when that is not known, which is booked as an estimate. */
  readonly usage: Usage | null;

  constructor(
    code: ModelFailure["code"],
    message: string,
    options: {
      readonly retryable?: boolean;
      readonly retryAfterMs?: number;
      readonly usage?: Usage | null;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ModelFailure";
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.usage = options.usage ?? null;
  }
}
