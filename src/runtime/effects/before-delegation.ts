/**
 * `beforeDelegation`: the program's own word about a delegation, before the input that asks for it is taken. What it
 * says is recorded with the input, so that replay does not ask it again.
 *
 * Invariant: it never lets through what it did not allow. If it throws, takes too long or gives something else than a
 * decision, the delegation is refused.
 */

import type { World } from "../../contracts/world.ts";
import { argumentsProblem, type ArgumentSchema } from "../../core/delegation/arguments.ts";
import { SKILL_TASK } from "../../core/delegation/spawn-tools.ts";
import { delegationSchema, SPAWN_SCHEMA } from "../../core/delegation/tools.ts";
import { withSchemaText } from "../../core/delegation/typed-data.ts";
import type { FactOf } from "../../core/event.ts";
import type { CallFacts } from "../../core/input.ts";
import { DEFAULT_AGENT } from "../../core/runs/spawn.ts";
import type { AgentState, TreeState } from "../../core/state.ts";
import { codePointsPrefix } from "../../core/text/index.ts";
import type { AgentNumber } from "../../core/values/ids.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { ReplyPart, ToolCallPart } from "../../core/values/message.ts";
import { errorText } from "../../errors.ts";
import { membersOf } from "../../plain-json.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";
import type { ReplyFacts } from "./call-facts.ts";

/** A delegation that is about to be made. */
export interface DelegationCall {
  /** The tool that a model called; `spawn` if your program asks for the run. */
  readonly tool: "subagent" | "start_background_agent" | "use_skill" | "spawn";
  readonly task: string;
  /** The definition that the child is made from; of `use_skill` the skill. */
  readonly agent: string;
  /** What the child is told besides its task; null if nothing. */
  readonly context: string | null;
  /** The id of the conversation. */
  readonly tree: string;
  /** The id of the agent that delegates. */
  readonly parent: string;
  /** The depth of the child: 1 below the agent of a conversation. */
  readonly depth: number;
  /** What the caller gave as `data` for the conversation or task; null if nothing. */
  readonly data: Json;
}

/** Why the delegation is refused, or the task that replaces the one that was asked for. */
export type DelegationDecision = { readonly refuse: string } | { readonly task: string };

/** Gives nothing to let the delegation be as it is. */
export type BeforeDelegation = (
  call: DelegationCall,
) => DelegationDecision | undefined | void | Promise<DelegationDecision | undefined | void>;

/** A reply as it is to be recorded. */
interface CheckedReply {
  readonly parts: readonly ReplyPart[];
  readonly facts: ReplyFacts;
  /** The arguments that the model had given, of calls that were rewritten. */
  readonly replaced: readonly Json[];
}

/** A request for a run, as it is to be recorded. */
export interface CheckedRequest {
  readonly input: FactOf<"run-asked">;
  readonly texts: readonly Json[];
}

/** Where a program asks for a run. */
type Place = Pick<DelegationCall, "tree" | "parent" | "depth" | "data">;

export interface DelegationHook {
  /** False: the program gave none, and everything is let through. */
  readonly given: boolean;
  checkReply(
    loaded: LoadedTree,
    agent: AgentNumber,
    parts: readonly ReplyPart[],
    facts: ReplyFacts,
  ): Promise<CheckedReply>;
  checkRequest(place: Place, input: FactOf<"run-asked">, args: Json): Promise<CheckedRequest>;
}

const MOST_MS = 5_000;
/** In code points. A refusal is recorded, and read by a model. */
const LONGEST_REFUSAL = 1_000;

type Verdict = { readonly problem: string } | { readonly task: string } | null;

export function createDelegationHook(hook: BeforeDelegation | undefined, world: Pick<World, "after">): DelegationHook {
  async function verdictOf(call: DelegationCall): Promise<Verdict> {
    const late = Promise.withResolvers<Verdict>();
    const problem = `beforeDelegation did not answer within ${MOST_MS / 1_000} s`;
    const cancel = world.after(MOST_MS, () => late.resolve({ problem }));
    try {
      return await Promise.race([late.promise, answerOf(call)]);
    } finally {
      cancel();
    }
  }

  async function answerOf(call: DelegationCall): Promise<Verdict> {
    try {
      return parseDecision(await hook?.(structuredClone(call)));
    } catch (error) {
      return refusal(errorText(error));
    }
  }

  /** The arguments after the hook, and why the call is refused. */
  async function checked(call: DelegationCall, args: JsonObject, schema: ArgumentSchema): Promise<Changed> {
    const verdict = await verdictOf(call);
    if (verdict === null || "problem" in verdict) return verdict ?? {};
    const { task } = verdict;
    if (task === call.task) return {};
    const problem = argumentsProblem(schema, withSchemaText({ ...args, task }));
    return problem === null ? { args: { ...args, task } } : { problem: `beforeDelegation gave a task: ${problem}` };
  }

  return {
    given: hook !== undefined,
    async checkReply({ id, tree }, number, parts, facts) {
      const agent = hook === undefined ? undefined : tree.state.agents.get(number);
      if (agent === undefined) return { parts, facts, replaced: [] };
      const changes = await Promise.all(
        parts.map(async (part, index) => {
          const asked = part.type === "tool-call" ? delegationAsked(tree.state, agent, part, facts[index]) : null;
          if (asked === null) return null;
          const { data = null } = tree.contexts;
          const place = { tree: id, parent: agent.id, depth: agent.depth + 1, data };
          return checked({ ...asked.call, ...place }, asked.args, asked.schema);
        }),
      );
      const replaced: Json[] = [];
      const found: Record<string, CallFacts> = { ...facts };
      const left = parts.map((part, index) => {
        const change = changes[index] ?? null;
        if (change?.problem !== undefined) found[index] = { ...facts[index], problem: change.problem };
        if (change?.args === undefined || part.type !== "tool-call") return part;
        found[index] = { ...facts[index], rewritten: replaced.push(part.input) };
        return { ...part, input: change.args };
      });
      return { parts: left, facts: found, replaced };
    },
    async checkRequest(place, input, given) {
      const args = jsonObjectIs(given) ? given : {};
      const asked = { input, texts: [given] };
      if (hook === undefined || input.facts.problem !== undefined) return asked;
      if (argumentsProblem(SPAWN_SCHEMA, withSchemaText(args)) !== null || blank(args["task"])) return asked;
      const change = await checked({ tool: "spawn", ...childOf(args), ...place }, args, SPAWN_SCHEMA);
      const { facts } = input;
      if (change.problem !== undefined)
        return { ...asked, input: { ...input, facts: { ...facts, problem: change.problem } } };
      if (change.args === undefined) return asked;
      return { input: { ...input, facts: { ...facts, rewritten: 1 } }, texts: [change.args, given] };
    },
  };
}

type JsonObject = { readonly [name: string]: Json };

interface Changed {
  readonly problem?: string;
  readonly args?: JsonObject;
}

interface Asked {
  readonly call: Omit<DelegationCall, keyof Place>;
  readonly args: JsonObject;
  readonly schema: ArgumentSchema;
}

/** The delegation that a call asks for; null if it asks for none, or is refused without the hook. */
function delegationAsked(
  { catalog }: TreeState,
  agent: AgentState,
  { name, input }: ToolCallPart,
  facts: CallFacts | undefined,
): Asked | null {
  if (name !== "subagent" && name !== "start_background_agent" && name !== "use_skill") return null;
  if (facts?.problem !== undefined || !jsonObjectIs(input)) return null;
  const schema = delegationSchema(name, agent);
  if (argumentsProblem(schema, withSchemaText(input)) !== null || blank(input["task"])) return null;
  if (name !== "use_skill") return { call: { tool: name, ...childOf(input) }, args: input, schema };
  const skill = catalog.get(text(input["name"]) ?? "");
  if (skill?.skill === undefined || skill.skill === "inline") return null;
  const task = text(input["task"]) ?? SKILL_TASK;
  return { call: { tool: name, task, agent: skill.name, context: null }, args: input, schema };
}

function childOf(args: JsonObject): Pick<DelegationCall, "task" | "agent" | "context"> {
  return {
    task: text(args["task"]) ?? "",
    agent: text(args["agent"]) ?? DEFAULT_AGENT,
    context: text(args["context"]) ?? null,
  };
}

/** The kernel refuses an empty task, whatever the hook would make of it. */
function blank(task: Json | undefined): boolean {
  return typeof task === "string" && task.trim() === "";
}

function text(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function parseDecision(given: unknown): Verdict {
  if (given === undefined || given === null) return null;
  const { refuse, task } = membersOf(given, ["refuse", "task"]);
  if (typeof refuse === "string") return refusal(refuse);
  if (refuse === undefined && typeof task === "string" && task.trim() !== "") return { task: task.toWellFormed() };
  return { problem: "beforeDelegation gave no decision: { refuse: WHY }, { task: TEXT }, or nothing" };
}

function refusal(why: string): Verdict {
  const problem = codePointsPrefix(why.trim().toWellFormed(), LONGEST_REFUSAL);
  return { problem: problem === "" ? "the program refuses this delegation" : problem };
}
