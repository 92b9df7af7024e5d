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

type ScriptedPart = TextPart | ReasoningPart | (ScriptedCall & { readonly type: "tool-call" });

export type ScriptedReply =
  | {
      readonly kind: "reply";
      readonly parts: readonly ScriptedPart[];
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
    };

interface ReplyOptions {
  readonly usage?: Usage | null;
  readonly stop?: ModelReply["stop"];
}

export function say(text: string, options: ReplyOptions = {}): ScriptedReply {
  return { kind: "reply", parts: [{ type: "text", text }], ...options };
}

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

/** A tool call whose arguments are not valid JSON. */
export function malformedCall(name: string, input = '{"text": "unfinished'): ScriptedReply {
  return callTool(name, input);
}

/** A call of a tool that does not exist. */
export function unknownToolCall(name = "no_such_tool", input: Json = {}): ScriptedReply {
  return callTool(name, input);
}
