/** From what adapters give to inputs of the kernel: the edge where results are parsed, measured and given their facts. */

import type { ModelFailure, ModelProvider, ModelReply } from "../../contracts/model.ts";
import type { ToolOutput } from "../../contracts/tool.ts";
import type { CallFacts, Input } from "../../core/event.ts";
import type { StepKey } from "../../core/ids.ts";
import { type Json, jsonObjectIs } from "../../core/json.ts";
import { type ReplyPart, replyText, type ToolCallPart } from "../../core/message.ts";
import { replyEnters, salvagedWords } from "../../core/reports/words.ts";
import type { SchemaChecker } from "../definitions/output-schema.ts";

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
}

export async function modelRepliedInput(effect: Keyed, reply: ModelReply, edge: EdgeFacts): Promise<InputWithTexts> {
  const parts = withUniqueCalls(reply.parts, effect.key);
  const facts: Record<string, CallFacts> = {};
  let size = 0;
  for (const [index, part] of parts.entries()) {
    if (part.type !== "tool-call") continue;
    size += JSON.stringify(part.input).length;
    const known = await callFacts(part, edge);
    if (known !== null) facts[index] = known;
  }
  const text = replyText(parts);
  return {
    input: {
      type: "model-replied",
      effect: effect.key,
      attempt: effect.attempt,
      usage: reply.usage,
      stop: reply.stop,
      size: size + text.length,
      ...(replyEnters(reply, false) && salvagedWords(parts) !== "" ? { said: true } : {}),
      ...(Object.keys(facts).length === 0 ? {} : { facts }),
    },
    texts: [parts as unknown as Json],
  };
}

/** Providers promise unique call ids; a reply that breaks the promise is mended, because results are paired by them. */
function withUniqueCalls(parts: readonly ReplyPart[], key: StepKey): readonly ReplyPart[] {
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

/** What only this side can know of a call: whether a model can be had, whether a schema can be used, whether data fit. */
async function callFacts(part: ToolCallPart, edge: EdgeFacts): Promise<CallFacts | null> {
  if (!jsonObjectIs(part.input)) return null;
  const { model, output_schema: schema, data, agentId } = part.input;
  if (part.name === "start_background_agent" && typeof model === "string") return modelFacts(model, edge.models);
  if (part.name === "subagent" && jsonObjectIs(schema)) return problemFacts(await edge.schemas.schemaProblem(schema));
  if (
    part.name === "send_agent_message" &&
    (agentId === undefined || agentId === edge.parent) &&
    edge.dataProblem !== null
  ) {
    return problemFacts(await edge.dataProblem(data));
  }
  return null;
}

function problemFacts(problem: string | null): CallFacts | null {
  return problem === null ? null : { problem };
}

export function modelFacts(name: string, models: ModelProvider): CallFacts {
  const found = models.resolve(name);
  return "unavailable" in found ? { problem: found.unavailable } : { model: found.facts };
}

export function modelFailedInput(effect: Keyed, failure: ModelFailure): InputWithTexts {
  return {
    input: {
      type: "model-failed",
      effect: effect.key,
      attempt: effect.attempt,
      code: failure.code,
      retryable: failure.retryable,
      ...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
      usage: failure.usage,
    },
    texts: [failure.message],
  };
}

export function toolFinishedInput(effect: Keyed, output: ToolOutput): InputWithTexts {
  return {
    input: {
      type: "tool-finished",
      effect: effect.key,
      attempt: effect.attempt,
      ...(output.failed ? { failed: true } : {}),
      size: output.text.length,
    },
    texts: [output.text],
  };
}
