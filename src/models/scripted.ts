/**
 * The scripted model: it replies what a test tells it to, and records its requests.
 *
 * Invariants:
 *  1. A reply follows from the script and the request alone, including ids, usage and text.
 *  2. A list gives its replies in the order of the calls. After the last one, calls fail with a sentence.
 *  3. `requests` holds every call in order, including calls that fail or hang.
 *  4. An abort rejects the call at once with an `aborted` failure, whatever the script does.
 */

import type { Model, ModelFacts, ModelProvider, ModelRequest } from "../contracts/model.ts";
import type { World } from "../contracts/world.ts";
import { abortedCall } from "./local-reply.ts";
import { performReply, unlessAborted } from "./perform-reply.ts";
import type { ScriptedReply } from "./scripted-reply.ts";

/** What the function of a script gets besides the request. */
export interface ScriptedSituation {
  /** The number of this model's call, from 1. */
  readonly number: number;
  /** The number of replies in the context. It is the same if a call is repeated after a crash or a failure. */
  readonly replies: number;
  /** How often this model was asked to continue this same context, from 1. */
  readonly attempt: number;
  /** The first user message. Of a child it is the task. */
  readonly task: string;
  /** The newest user message. */
  readonly newest: string;
  readonly signal: AbortSignal;
}

/** Gives the reply to a request. */
export type ScriptFunction = (
  request: ModelRequest,
  situation: ScriptedSituation,
) => ScriptedReply | string | Promise<ScriptedReply | string>;

/** What a model replies: a list, used in the order of its calls, or a function of the request. */
export type Script = readonly (ScriptedReply | string)[] | ScriptFunction;

/** A model that follows a script. */
export interface ScriptedModel extends Model {
  /** What it was asked, in order. */
  readonly requests: readonly ModelRequest[];
}

/** Models that follow scripts, by their names. */
export interface ScriptedModels extends ModelProvider {
  /** The model of that name; throws if there is none. */
  model(name: string): ScriptedModel;
  /** The requests of all models, in order. */
  readonly requests: readonly ModelRequest[];
}

const UNKNOWN_FACTS: ModelFacts = { window: null, price: null };

/** What scripted models need for replies that take time. */
export interface ScriptedModelsOptions {
  /** Whose time `delayed`, `streamed` and `endless` use. Give the world of the Errand. */
  readonly world?: Pick<World, "after">;
}

/** One model that follows a script. */
export function createScriptedModel(script: Script, options: ScriptedModelsOptions = {}): ScriptedModel {
  return recordingModel(script, [], options.world);
}

/** A provider of scripted models by name. */
export function createScriptedModels(
  scripts: Readonly<Record<string, Script>>,
  facts: Readonly<Record<string, Partial<ModelFacts>>> = {},
  { world }: ScriptedModelsOptions = {},
): ScriptedModels {
  const requests: ModelRequest[] = [];
  const models = new Map(
    Object.entries(scripts).map(([name, script]) => [name, recordingModel(script, requests, world)]),
  );
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
export function byContext(replies: readonly (ScriptedReply | string)[]): ScriptFunction {
  return (_request, situation) => replies[situation.replies] ?? ranOut(replies.length, situation.replies + 1);
}

/** Chooses the script by the task: the first whose name is part of it. A list is used as by `byContext`. */
export function byTask(scripts: Readonly<Record<string, Script>>): ScriptFunction {
  return (request, situation) => {
    const [, script] = Object.entries(scripts).find(([part]) => situation.task.includes(part)) ?? [];
    if (script === undefined)
      return { ...NO_REPLY, message: `No script is for the task ${JSON.stringify(situation.task.slice(0, 100))}.` };
    return typeof script === "function" ? script(request, situation) : byContext(script)(request, situation);
  };
}

function recordingModel(script: Script, all: ModelRequest[], world: ScriptedModelsOptions["world"]): ScriptedModel {
  const requests: ModelRequest[] = [];
  const asked = new Map<string, number>();

  function attemptOf({ task, replies, newest }: Omit<ScriptedSituation, "attempt">): number {
    const context = JSON.stringify([task, replies, newest]);
    const attempt = (asked.get(context) ?? 0) + 1;
    asked.set(context, attempt);
    return attempt;
  }

  return {
    requests,
    async call(request, options) {
      const copy = { ...request, messages: [...request.messages] };
      requests.push(copy);
      all.push(copy);
      if (options.signal.aborted) throw abortedCall();
      const found = situationOf(request, requests.length, options.signal);
      const situation = { ...found, attempt: attemptOf(found) };
      const given = await unlessAborted(options.signal, async () =>
        typeof script === "function"
          ? script(request, situation)
          : (script[situation.number - 1] ?? ranOut(script.length, situation.number)),
      );
      return await performReply(given, { request, options, world, attempt: situation.attempt });
    },
  };
}

function situationOf(request: ModelRequest, number: number, signal: AbortSignal) {
  const texts = request.messages.flatMap((message) => (message.role === "user" ? [message.text] : []));
  return {
    number,
    replies: request.messages.filter((message) => message.role === "assistant").length,
    task: texts[0] ?? "",
    newest: texts.at(-1) ?? "",
    signal,
  };
}

const NO_REPLY = { kind: "failure", code: "provider-error", retryable: false } as const;

function ranOut(length: number, number: number): ScriptedReply {
  const replies = length === 1 ? "reply" : "replies";
  return { ...NO_REPLY, message: `The script has ${length} ${replies} and was asked for number ${number}.` };
}
