/**
 * What only the runtime can find out about the calls of a reply, recorded beside them: whether a model is available,
 * whether a schema can be used, whether data fit, where a path leads, whether a tool would refuse its arguments.
 */

import type { ModelProvider } from "../../contracts/model.ts";
import type { Tool } from "../../contracts/tool.ts";
import type { World } from "../../contracts/world.ts";
import { dataGiven, outputSchemaOf } from "../../core/delegation/typed-data.ts";
import type { CallFacts } from "../../core/input.ts";
import { permissionsInForce, type ProcessRights } from "../../core/permissions/process-rights.ts";
import { codePointsPrefix } from "../../core/text/index.ts";
import type { AgentNumber } from "../../core/values/ids.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { ReplyPart, ToolCallPart } from "../../core/values/message.ts";
import { plainJson } from "../../plain-json.ts";
import type { StandardSchema } from "../definitions/output-schema.ts";
import type { SchemaChecker } from "../schemas/schema-checker.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";
import { createBreather } from "./pace.ts";

/** Facts of the calls of a reply, by their positions. */
export type ReplyFacts = Readonly<Record<string, CallFacts>>;

interface CallFactsParts {
  readonly world: Pick<World, "monotonic" | "soon">;
  readonly models: ModelProvider;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly schemas: SchemaChecker;
  readonly rights: ProcessRights;
  /** Standard Schemas of definitions, by the definition's hash. */
  readonly outputs: ReadonlyMap<string, StandardSchema>;
  readonly workspace: string;
}

export type CallFactsFinder = (
  loaded: LoadedTree,
  agent: AgentNumber,
  parts: readonly ReplyPart[],
) => Promise<ReplyFacts>;

/** In code points. The facts are recorded, and a user's schema or tool may return a text of any length. */
const LONGEST_PROBLEM = 1_000;

export function createCallFacts(parts: CallFactsParts): CallFactsFinder {
  const { world, models, tools, schemas, rights, outputs, workspace } = parts;

  /** The definition's Standard Schema, unless the call that made the run named another schema. */
  function standardSchemaOf(
    { source }: LoadedTree["tree"],
    definition: string,
    schema: Json,
  ): StandardSchema | undefined {
    const own = outputs.get(definition);
    if (own === undefined) return undefined;
    return JSON.stringify(source.definition(definition).output) === JSON.stringify(schema) ? own : undefined;
  }

  /** Whether a report of the agent fits the schema of its run. */
  async function reportFacts({ tree }: LoadedTree, number: AgentNumber, input: JsonObject): Promise<CallFacts | null> {
    const agent = tree.state.agents.get(number);
    const parent = tree.state.agents.get(agent?.parent ?? -1)?.id;
    const typed = tree.state.runs.get(number)?.typed === true;
    const schema = typed ? tree.contexts.runs.get(number)?.schema : undefined;
    if (schema === undefined || (input["agentId"] !== undefined && input["agentId"] !== parent)) return null;
    const own = standardSchemaOf(tree, agent?.definition.hash ?? "", schema);
    const data = dataGiven(input);
    return problemFacts(
      await (own === undefined ? schemas.dataProblem(schema, data) : schemas.standardProblem(own, data)),
    );
  }

  async function toolFacts(loaded: LoadedTree, number: AgentNumber, call: ToolCallPart): Promise<CallFacts | null> {
    const tool = tools.get(call.name);
    const problem = problemFacts(argumentsProblem(tool, call.input));
    const unfit = (await wantsApproval(tool, call.input)) ? { ...problem, asks: true as const } : problem;
    const definition = loaded.tree.state.agents.get(number)?.definition;
    const restricted = definition !== undefined && permissionsInForce(rights, definition).length > 0;
    if (!restricted || !jsonObjectIs(call.input)) return unfit;
    const located = await locatedFacts(tool, call.input, workspace);
    return located === null || unfit === null ? (located ?? unfit) : { ...located, ...unfit };
  }

  async function factsOf(loaded: LoadedTree, agent: AgentNumber, call: ToolCallPart): Promise<CallFacts | null> {
    const { name, input } = call;
    // The kernel answers arguments that are no JSON.
    if (typeof input === "string") return null;
    if (tools.has(name)) return toolFacts(loaded, agent, call);
    if (!jsonObjectIs(input)) return null;
    switch (name) {
      case "start_background_agent":
        return typeof input["model"] === "string" ? modelFacts(input["model"], models) : null;
      case "subagent": {
        const schema = outputSchemaOf(input) ?? null;
        return jsonObjectIs(schema) ? problemFacts(schemas.schemaProblem(schema)) : null;
      }
      case "send_agent_message":
        return reportFacts(loaded, agent, input);
      default:
        return null;
    }
  }

  return async (loaded, agent, reply) => {
    const facts: Record<string, CallFacts> = {};
    const breathe = createBreather(world);
    for (const [index, part] of reply.entries()) {
      await breathe();
      const found = part.type === "tool-call" ? await factsOf(loaded, agent, part) : null;
      if (found !== null) facts[index] = found;
    }
    return facts;
  };
}

type JsonObject = { readonly [name: string]: Json };

/** Facts about a model that a call names. */
export function modelFacts(name: string, models: ModelProvider): CallFacts {
  const found = models.resolve(name);
  return "unavailable" in found ? (problemFacts(found.unavailable) ?? {}) : { model: found.facts };
}

function problemFacts(problem: string | null): CallFacts | null {
  return problem === null ? null : { problem: codePointsPrefix(problem.toWellFormed(), LONGEST_PROBLEM) };
}

/**
 * Where the path of a call leads. If a user's tool throws, the path counts as written; the opened file is judged
 * anyway.
 */
async function locatedFacts(tool: Tool | undefined, input: Json, workspace: string): Promise<CallFacts | null> {
  try {
    const plain = plainJson(await tool?.locate?.(input, { workspace }));
    if ("problem" in plain || !jsonObjectIs(plain.json)) return null;
    const { real, linked } = plain.json;
    return { file: { ...(typeof real === "string" ? { real } : {}), ...(linked === true ? { linked } : {}) } };
  } catch {
    return null;
  }
}

/** A tool that throws is not trusted to run without the user. */
async function wantsApproval(tool: Tool | undefined, input: Json): Promise<boolean> {
  try {
    return (await tool?.needsApproval?.(input)) === true;
  } catch {
    return true;
  }
}

function argumentsProblem(tool: Tool | undefined, input: Json): string | null {
  try {
    const problem: unknown = tool?.check?.(input) ?? null;
    return typeof problem === "string" ? problem : null;
  } catch {
    // The tool reports it when it runs.
    return null;
  }
}
