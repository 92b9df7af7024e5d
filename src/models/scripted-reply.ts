/** The replies of a script, and functions that make them. */

import type { ModelFailure, ModelReply } from "../contracts/model.ts";
import type { Json } from "../core/values/json.ts";
import type { ReasoningPart, TextPart, Usage } from "../core/values/message.ts";

/** Without an id, the call gets the next free `call_N` of its context. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: Json;
  readonly id?: string;
}

/** Text that arrives in pieces, with a pause before each. */
export interface PacedText {
  readonly pieces: readonly string[];
  readonly everyMs: number;
}

/** A part of a scripted reply. */
export type ScriptedPart = TextPart | ReasoningPart | (ScriptedCall & { readonly type: "tool-call" });

/** What a scripted model does in one call. Functions such as `say`, `callTool` and `fail` make it. */
export type ScriptedReply =
  | {
      readonly kind: "reply";
      readonly parts: readonly ScriptedPart[];
      /** Default: the text arrives at once, word by word. */
      readonly paced?: PacedText;
      /** Default: a deterministic estimate. Null: the provider did not report it. */
      readonly usage?: Usage | null;
      readonly stop?: ModelReply["stop"];
    }
  | {
      readonly kind: "failure";
      readonly code: ModelFailure["code"];
      readonly message: string;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
      /** Default: zero. Null: the provider did not report it. */
      readonly usage?: Usage | null;
    }
  | {
      readonly kind: "hang";
      /** Streamed at the beginning. */
      readonly text: string;
      /** What the provider reported before the abort. Default: nothing. */
      readonly usage?: Usage;
    }
  | {
      /** Streams the text again and again until it is aborted. */
      readonly kind: "endless";
      readonly text: string;
    }
  | {
      readonly kind: "delayed";
      readonly milliseconds: number;
      readonly reply: ScriptedReply | string;
    }
  | {
      /** Another reply for each attempt of the same call. The last one is repeated. */
      readonly kind: "attempts";
      readonly replies: readonly (ScriptedReply | string)[];
    };

/** What a reply used, and why it stopped. */
export interface ReplyOptions {
  readonly usage?: Usage | null;
  readonly stop?: ModelReply["stop"];
}

/** A reply of text alone. */
export function say(text: string, options: ReplyOptions = {}): ScriptedReply {
  return { kind: "reply", parts: [{ type: "text", text }], ...options };
}

/** A reply that calls one tool. */
export function callTool(name: string, input: Json, id?: string): ScriptedReply {
  return callTools([id === undefined ? { name, input } : { name, input, id }]);
}

/** One reply with several calls, after `text`. */
export function callTools(
  calls: readonly ScriptedCall[],
  options: ReplyOptions & { readonly text?: string } = {},
): ScriptedReply {
  const { text, ...rest } = options;
  const parts = calls.map((call): ScriptedPart => ({ type: "tool-call", ...call }));
  return { kind: "reply", parts: text === undefined ? parts : [{ type: "text", text }, ...parts], ...rest };
}

/** A reply whose text arrives in these pieces, with a pause before each. */
export function streamed(
  pieces: readonly string[],
  { everyMs = 0, ...options }: ReplyOptions & { readonly everyMs?: number } = {},
): ScriptedReply {
  return { kind: "reply", parts: [{ type: "text", text: pieces.join("") }], paced: { pieces, everyMs }, ...options };
}

/** The same reply, after this time of the model's world. */
export function delayed(milliseconds: number, reply: ScriptedReply | string): ScriptedReply {
  return { kind: "delayed", milliseconds, reply };
}

/**
 * Another reply for each attempt of the same model call, such as
 * `attempts(fail({ retryable: true }), say("done"))`. The last one is repeated.
 */
export function attempts(...replies: readonly (ScriptedReply | string)[]): ScriptedReply {
  return { kind: "attempts", replies };
}

/** A failed model call. By default it is not retryable. */
export function fail(
  failure: {
    readonly code?: ModelFailure["code"];
    readonly message?: string;
    readonly retryable?: boolean;
    readonly retryAfterMs?: number;
    readonly usage?: Usage | null;
  } = {},
): ScriptedReply {
  return {
    kind: "failure",
    code: "provider-error",
    message: "The scripted provider failed.",
    retryable: false,
    ...failure,
  };
}

/** Never replies. Fails when it is aborted. */
export function hang(text = "", usage?: Usage): ScriptedReply {
  return { kind: "hang", text, ...(usage === undefined ? {} : { usage }) };
}

/** Streams this text again and again, until the reply is too long or takes too long. */
export function endless(text = "and so on ".repeat(200)): ScriptedReply {
  return { kind: "endless", text };
}

/** A tool call whose arguments are not valid JSON. */
export function malformedCall(name: string, input = '{"text": "unfinished'): ScriptedReply {
  return callTool(name, input);
}

/** A call of a tool that does not exist. */
export function unknownToolCall(name = "no_such_tool", input: Json = {}): ScriptedReply {
  return callTool(name, input);
}
