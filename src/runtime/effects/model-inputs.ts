/** From what adapters give to inputs of the kernel: the edge where results are parsed, measured and given their facts. */

import { errorText } from "../../errors.ts";
import type { ModelFailure, ModelProvider, ModelReply } from "../../contracts/model.ts";
import type { Input } from "../../core/event.ts";
import type { CallFacts } from "../../core/input.ts";
import type { StepKey } from "../../core/values/ids.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { FileFacts } from "../../core/permissions/permissions.ts";
import { type ReplyPart, replyText, type ToolCallPart, type Usage } from "../../core/values/message.ts";
import { plainJson } from "../../plain-json.ts";
import { dataGiven, outputSchemaOf } from "../../core/delegation/typed-data.ts";
import { codePointsPrefix } from "../../core/text/index.ts";
import type { SchemaChecker } from "../schemas/schema-checker.ts";
import { failureTold } from "./parse-reply.ts";

interface Keyed {
  readonly key: StepKey;
  readonly attempt: number;
}

export interface InputWithTexts {
  readonly input: Input;
  readonly texts: readonly Json[];
}

/** What the edge needs to know of calls that a model makes. */
export interface EdgeFacts {
  readonly models: ModelProvider;
  readonly schemas: SchemaChecker;
  /** The id of the agent's parent, if it has one. */
  readonly parent: string | undefined;
  /** Checks the data of a report of this agent; null when its run is not typed. */
  readonly dataProblem: ((data: Json | undefined) => Promise<string | null>) | null;
  /** Finds where the path of a tool's call really leads; null where no rule needs to know. */
  locate(tool: string): ((input: Json) => Promise<FileFacts | null>) | null;
  /** Why a tool of this process would refuse these arguments, as far as it can say without working; null if it would not. */
  readonly callProblem: (tool: string, input: Json) => string | null;
}

/** What only the edge can know of the calls of a reply, by their positions; null where there is nothing to know. */
export function repliedFacts(parts: readonly ReplyPart[], edge: EdgeFacts): Promise<RepliedFacts> | null {
  const asked = parts.some((part) => part.type === "tool-call" && factsWanted(part, edge));
  return asked ? factsOf(parts, edge) : null;
}

type RepliedFacts = Readonly<Record<string, CallFacts>>;

async function factsOf(parts: readonly ReplyPart[], edge: EdgeFacts): Promise<RepliedFacts> {
  const facts: Record<string, CallFacts> = {};
  for (const [index, part] of parts.entries()) {
    const known = part.type === "tool-call" && factsWanted(part, edge) ? await callFacts(part, edge) : null;
    if (known !== null) facts[index] = known;
  }
  return facts;
}

/** The reply is one that `replyTold` made. */
export function modelRepliedInput(effect: Keyed, reply: ModelReply, facts: RepliedFacts | null): InputWithTexts {
  const parts = withUniqueCalls(reply.parts, effect.key);
  let size = 0;
  for (const part of parts) if (part.type === "tool-call") size += JSON.stringify(part.input).length;
  const text = replyText(parts);
  return {
    input: {
      type: "model-replied",
      effect: effect.key,
      attempt: effect.attempt,
      usage: usageOfReply(reply),
      stop: reply.stop,
      size: size + text.length,
      facts: facts === null || Object.keys(facts).length === 0 ? undefined : facts,
    },
    texts: [parts as unknown as Json],
  };
}

/** A call that was answered has used something: a reply that says it used nothing says nothing. */
function usageOfReply({ usage }: ModelReply): Usage | null {
  return usage !== null && usage.input === 0 && usage.output === 0 ? null : usage;
}

/** Providers promise unique call ids; a reply that breaks the promise is mended, because results are paired by them. */
function withUniqueCalls(parts: readonly ReplyPart[], key: StepKey): readonly ReplyPart[] {
  const [only] = parts;
  if (parts.length === 1 && (only?.type !== "tool-call" || only.id !== "")) return parts;
  const seen = new Set<string>();
  let calls = 0;
  return parts.map((part) => {
    if (part.type !== "tool-call") return part;
    calls += 1;
    const id = part.id === "" || seen.has(part.id) ? `call-${key}-${calls}` : part.id;
    seen.add(id);
    return id === part.id ? part : { ...part, id };
  });
}

function factsWanted({ name, input }: ToolCallPart, edge: EdgeFacts): boolean {
  // What is no JSON is answered by the kernel.
  if (typeof input !== "string" && edge.callProblem(name, input) !== null) return true;
  if (!jsonObjectIs(input)) return false;
  if (edge.locate(name) !== null) return true;
  if (name === "start_background_agent") return typeof input["model"] === "string";
  if (name === "subagent") return jsonObjectIs(outputSchemaOf(input) ?? null);
  if (name !== "send_agent_message" || edge.dataProblem === null) return false;
  return input["agentId"] === undefined || input["agentId"] === edge.parent;
}

/** What only this side can know of a call: whether a model can be had, whether a schema can be used, whether data fit. */
async function callFacts({ name, input }: ToolCallPart, edge: EdgeFacts): Promise<CallFacts | null> {
  const unfit = problemFacts(edge.callProblem(name, input));
  if (!jsonObjectIs(input)) return unfit;
  const locate = edge.locate(name);
  const located = locate === null ? null : fileFacts(await locate(input));
  if (unfit !== null || locate !== null) return unfit === null ? located : { ...located, ...unfit };
  const { model } = input;
  if (name === "start_background_agent" && typeof model === "string") return modelFacts(model, edge.models);
  const schema = name === "subagent" ? (outputSchemaOf(input) ?? null) : null;
  if (schema !== null) return problemFacts(edge.schemas.schemaProblem(schema));
  return edge.dataProblem === null ? null : problemFacts(await edge.dataProblem(dataGiven(input)));
}

/** A tool of the user's own may say anything of a file: only what the kernel knows is recorded. */
function fileFacts(file: unknown): CallFacts | null {
  const plain = plainJson(file);
  if ("problem" in plain || !jsonObjectIs(plain.json)) return null;
  const { real, linked } = plain.json;
  return {
    file: { ...(typeof real === "string" ? { real } : {}), ...(linked === true ? { linked } : {}) },
  };
}

/** In code points. The kernel records it, and a schema or a tool of the user's own may say anything, at any length. */
const LONGEST_PROBLEM = 1_000;

function problemFacts(problem: string | null): CallFacts | null {
  return problem === null ? null : { problem: codePointsPrefix(problem.toWellFormed(), LONGEST_PROBLEM) };
}

export function modelFacts(name: string, models: ModelProvider): CallFacts {
  const found = models.resolve(name);
  return "unavailable" in found ? (problemFacts(found.unavailable) ?? {}) : { model: found.facts };
}

export function modelFailedInput(effect: Keyed, failure: ModelFailure): InputWithTexts {
  const { code, retryable, retryAfterMs, usage } = failureTold(failure);
  return {
    input: {
      type: "model-failed",
      effect: effect.key,
      attempt: effect.attempt,
      code,
      retryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      usage,
    },
    texts: [failureWords(errorText(failure))],
  };
}

/** In code points. What a provider says is kept, told to parents and shown to people: a whole page of HTML helps none of them. */
const LONGEST_FAILURE = 1_000;
// oxlint-disable-next-line no-control-regex
const SEQUENCES = /\u001b\[[0-?]*[ -/]*[@-~]/g;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** A provider's words without what could act on a terminal, and not too long. */
function failureWords(message: string): string {
  const words = message.toWellFormed().replace(SEQUENCES, "").replace(CONTROLS, "");
  const short = codePointsPrefix(words, LONGEST_FAILURE);
  return short.length < words.length ? `${short}…` : words;
}
