/**
 * The scripted model: it replies what a test tells it to, and records its requests.
 *
 * Invariants:
 *  1. A reply follows from the script and the request alone, including ids, usage and text.
 *  2. A list gives its replies in the order of the calls. After the last one, calls fail with a sentence.
 *  3. `requests` holds every call in order, including calls that fail or hang.
 *  4. An abort rejects the call at once with an `aborted` failure, whatever the script does.
 */

import { ModelFailure } from "../contracts/model.ts";
import type {
  Model,
  ModelCallOptions,
  ModelFacts,
  ModelProvider,
  ModelReply,
  ModelRequest,
} from "../contracts/model.ts";
import { replyText } from "../core/values/message.ts";
import type { ReplyPart, Usage } from "../core/values/message.ts";
import { abortedCall, callId, estimateUsage, nextCallNumber, streamText } from "./local-reply.ts";
import type { ScriptedReply } from "./scripted-reply.ts";

export { callTool, callTools, fail, hang, malformedCall, say, unknownToolCall } from "./scripted-reply.ts";
export type { ScriptedReply } from "./scripted-reply.ts";

/** What the function of a script gets besides the request. */
export interface ScriptedSituation {
  /** The number of this model's call, from 1. */
  readonly number: number;
  /** The number of replies in the context. It is the same if a call is repeated after a crash or a failure. */
  readonly replies: number;
  /** The first user message. Of a child it is the task. */
  readonly task: string;
  /** The newest user message. */
  readonly newest: string;
  readonly signal: AbortSignal;
}

export type Script =
  | readonly (ScriptedReply | string)[]
  | ((request: ModelRequest, situation: ScriptedSituation) => ScriptedReply | string | Promise<ScriptedReply | string>);

export interface ScriptedModel extends Model {
  readonly requests: readonly ModelRequest[];
}

export interface ScriptedModels extends ModelProvider {
  /** The model of that name; throws if there is none. */
  model(name: string): ScriptedModel;
  /** The requests of all models, in order. */
  readonly requests: readonly ModelRequest[];
}

const UNKNOWN_FACTS: ModelFacts = { window: null, price: null };

export function createScriptedModel(script: Script): ScriptedModel {
  return recordingModel(script, []);
}

/** A provider of scripted models by name. */
export function createScriptedModels(
  scripts: Readonly<Record<string, Script>>,
  facts: Readonly<Record<string, Partial<ModelFacts>>> = {},
): ScriptedModels {
  const requests: ModelRequest[] = [];
  const models = new Map(Object.entries(scripts).map(([name, script]) => [name, recordingModel(script, requests)]));
  const names = [...models.keys()].join(", ");
  return {
    requests,
    model(name) {
      const model = models.get(name);
      if (model === undefined) throw new Error(`there is no script for ${name}; there are scripts for ${names}`);
      return model;
    },
    resolve(name) {
      const model = models.get(name);
      if (model === undefined)
        return { unavailable: `There is no script for the model ${name}; there are scripts for ${names}.` };
      return { model, facts: { ...UNKNOWN_FACTS, ...(Object.hasOwn(facts, name) ? facts[name] : {}) } };
    },
  };
}

/** Chooses the reply by the number of replies in the context: a repeated request gets the same reply. */
export function byContext(replies: readonly (ScriptedReply | string)[]): Script {
  return (_request, situation) => replies[situation.replies] ?? ranOut(replies.length, situation.replies + 1);
}

function recordingModel(script: Script, all: ModelRequest[]): ScriptedModel {
  const requests: ModelRequest[] = [];
  return {
    requests,
    async call(request, options) {
      const asked = { ...request, messages: [...request.messages] };
      requests.push(asked);
      if (all !== requests) all.push(asked);
      if (options.signal.aborted) throw abortedCall();
      const situation = situationOf(request, requests.length, options.signal);
      const given = await unlessAborted(options.signal, async () =>
        typeof script === "function"
          ? script(request, situation)
          : (script[situation.number - 1] ?? ranOut(script.length, situation.number)),
      );
      return await perform(
        typeof given === "string" ? { kind: "reply", parts: [{ type: "text", text: given }] } : given,
        request,
        options,
      );
    },
  };
}

async function perform(reply: ScriptedReply, request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
  switch (reply.kind) {
    case "failure":
      throw new ModelFailure(reply.code, reply.message, {
        retryable: reply.retryable,
        ...(reply.retryAfterMs === undefined ? {} : { retryAfterMs: reply.retryAfterMs }),
        usage: reply.usage === undefined ? { input: 0, output: 0 } : reply.usage,
      });
    case "hang":
      streamText(reply.text, options);
      return await unlessAborted(options.signal, () => new Promise<never>(() => undefined), reply.usage);
    case "reply": {
      let number = nextCallNumber(request.messages);
      const parts = reply.parts.map((part): ReplyPart =>
        part.type === "tool-call" ? { ...part, id: part.id ?? callId(number++) } : part,
      );
      streamText(replyText(parts), options);
      return {
        parts,
        usage: reply.usage === undefined ? estimateUsage(request, parts) : reply.usage,
        stop: reply.stop ?? (parts.some((part) => part.type === "tool-call") ? "tools" : "end"),
      };
    }
  }
}

function situationOf(request: ModelRequest, number: number, signal: AbortSignal): ScriptedSituation {
  const texts = request.messages.flatMap((message) => (message.role === "user" ? [message.text] : []));
  return {
    number,
    replies: request.messages.filter((message) => message.role === "assistant").length,
    task: texts[0] ?? "",
    newest: texts.at(-1) ?? "",
    signal,
  };
}

function ranOut(length: number, number: number): ScriptedReply {
  return {
    kind: "failure",
    code: "provider-error",
    message: `The script has ${length} ${length === 1 ? "reply" : "replies"} and was asked for number ${number}.`,
    retryable: false,
  };
}

async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>, usage?: Usage): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(abortedCall(usage));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(), promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
