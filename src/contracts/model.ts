/**
 * The model port. A model is a plain object from a factory. Requests and replies have the same form for all providers.
 *
 * Promises of a model:
 *  1. `call` resolves with a reply, or rejects with a `ModelFailure`. Any other error counts as one that is not
 *     retryable.
 *  2. When the signal aborts, the connection is closed at once and `call` rejects.
 *  3. It does not retry. The runtime does, and records each attempt.
 */

import type { ContextMessage, ReplyPart, ToolSpec, Usage } from "../core/values/message.ts";

/** What a model is sent. */
export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  /** Roles alternate: user, assistant, tool results, … The messages are frozen. */
  readonly messages: readonly ContextMessage[];
  /** To be sent to the provider. The runtime sets it, and stops a reply that is far longer. */
  readonly maxOutputTokens?: number;
}

/** A complete reply of a model. */
export interface ModelReply {
  readonly parts: readonly ReplyPart[];
  readonly usage: Usage | null;
  /** Why the model stopped. `end` and `tools`: the reply is complete. `length`: the output limit cut it. */
  readonly stop: "end" | "tools" | "length" | "refused";
}

/** How a model call can be ended, and where its text goes while it arrives. */
export interface ModelCallOptions {
  readonly signal: AbortSignal;
  /** Live text as it arrives, for people. It is not recorded. */
  readonly onText?: (delta: string) => void;
  /**
   * How many bytes of the reply have just arrived: text, reasoning and arguments. The signal aborts when they are too
   * many. If a model does not call it, its live text, its time and the size of its complete reply are limited.
   */
  readonly onReceived?: (bytes: number) => void;
}

/** A model, as Errand calls it. What it promises is in the file's header. */
export interface Model {
  call(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply>;
}

/** What is known about a model before it is called. */
export interface ModelFacts {
  /** The context window in tokens, or null when unknown. */
  readonly window: number | null;
  /** Micro-dollars for a million tokens, or null when unknown. */
  readonly price: { readonly input: number; readonly output: number; readonly cachedInput: number } | null;
}

/** Finds a model by its `provider/name`. */
export interface ModelProvider {
  /** Keys and passwords of its models. They are removed from everything that is recorded. */
  readonly secrets?: readonly string[];
  /** The model and its facts, or a sentence that says why it is unavailable. */
  resolve(name: string): { readonly model: Model; readonly facts: ModelFacts } | { readonly unavailable: string };
}

/** A model call without a reply. `reply-limit`: the reply was longer, or took longer, than the tree's limits allow. */
export class ModelFailure extends Error {
  readonly code: "provider-error" | "context-overflow" | "reply-limit" | "aborted" | "refused";
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** What the call has used; null if that is unknown: then an estimate is booked. */
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
