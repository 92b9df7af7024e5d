/** Owns what a script can say, and the short ways to write it. */

import type { ModelFailure, ModelReply } from "../contracts/model.ts";
import type { Json } from "../core/values/json.ts";
import type { ReasoningPart, TextPart, Usage } from "../core/values/message.ts";

/** A tool call; without an id it gets the next free `call_N` of its context. */
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
      /** Left out: a deterministic estimate. Null: the provider did not say. */
      readonly usage?: Usage | null;
      readonly stop?: ModelReply["stop"];
    }
  | {
      readonly kind: "failure";
      readonly code: ModelFailure["code"];
      readonly message: string;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
      /** Left out: nothing. Null: the provider did not say. */
      readonly usage?: Usage | null;
    }
  | {
      readonly kind: "hang";
      /** Streamed before it falls silent. */
      readonly text: string;
      /** What the provider had said until then of the usage, when it is aborted. Left out: nothing. */
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

/** Several calls of one reply; `text` stands before them. */
export function callTools(
  calls: readonly ScriptedCall[],
  options: ReplyOptions & { readonly text?: string } = {},
): ScriptedReply {
  const { text, ...rest } = options;
  const parts = calls.map((call): ScriptedPart => ({ type: "tool-call", ...call }));
  return { kind: "reply", parts: text === undefined ? parts : [{ type: "text", text }, ...parts], ...rest };
}

/** A call that gives no reply: by default one that the provider will not mend. */
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

/** Never answers; when aborted, fails with `aborted`. */
export function hang(text = "", usage?: Usage): ScriptedReply {
  return { kind: "hang", text, ...(usage === undefined ? {} : { usage }) };
}

/** A tool call whose arguments are no JSON, and therefore a string. */
export function malformedCall(name: string, input = '{"text": "unfinished'): ScriptedReply {
  return callTool(name, input);
}

/** A call of a tool that no agent has. */
export function unknownToolCall(name = "no_such_tool", input: Json = {}): ScriptedReply {
  return callTool(name, input);
}
