/** Making and starting runs. Every new run goes through `spawn`, which checks depth, number, budget and arguments. */

import { definitionWithin } from "../agent/rights.ts";
import { callModel, priceUnknown, warnIfNear } from "../agent/call-model.ts";
import { type Arguments, argumentsProblem } from "../delegation/arguments.ts";
import { SPAWN_SCHEMA } from "../delegation/tools.ts";
import { outputSchemaOf, withSchemaText } from "../delegation/typed-data.ts";
import type { FactOf } from "../event.ts";
import type { CallFacts } from "../input.ts";
import type { RunMode } from "../journal/journal.ts";
import { startSession } from "../outside/session.ts";
import { runnerRefusal } from "../permissions/process-rights.ts";
import type { AgentState } from "../state.ts";
import type { Deciding, Refusal } from "../step.ts";
import type { DefinitionFacts } from "../values/definition.ts";
import type { AgentNumber, RunNumber } from "../values/ids.ts";
import { jsonObjectIs } from "../values/json.ts";
import { limitAsked } from "../values/limits.ts";
import { refreshIfIdle } from "./run-state.ts";

interface SpawnRequest {
  readonly mode: RunMode;
  /** The skill that runs as a child. Any other child is made from the argument `agent`. */
  readonly skill?: string;
  readonly call: string | null;
  readonly args: Arguments;
  readonly facts: CallFacts;
  /** True if no model is told of the outcome. */
  readonly unannounced?: boolean;
}

type LimitOfRun = "awaitedTimeoutSeconds" | "backgroundTimeoutSeconds" | "delegatedIterations";

export const DEFAULT_AGENT = "worker";

/** Makes the run, or returns why not. */
export function spawn(d: Deciding, parent: AgentState, request: SpawnRequest): RunNumber | Refusal {
  const { args, facts, mode, call, skill } = request;
  const name = skill ?? textOf(args["agent"]) ?? DEFAULT_AGENT;
  const definition = d.state.catalog.get(name);
  if (definition === undefined || (definition.skill !== undefined && skill === undefined)) {
    const known = definitionNames(d, (other) => other.skill === undefined);
    const unknown = { reason: "unknown-agent", error: `there is no agent definition "${name}" (known: ${known})` };
    return treeRefusal(d, parent, args) ?? unknown;
  }
  const refusal =
    treeRefusal(d, parent, args) ?? callRefusal(d, definition, request) ?? outsideRefusal(d, parent, definition, args);
  if (refusal !== null) return refusal;
  const model = textOf(args["model"]);
  const lowered: string[] = [];
  const capped = (limit: LimitOfRun, argument: string, defined: number | null): number => {
    const value = args[argument];
    const asked = typeof value === "number" ? value : (defined ?? d.settings.limits[limit]);
    const most = limitAsked(limit, asked, d.settings);
    if (most < asked) lowered.push(argument);
    return most;
  };
  const timeout = mode === "awaited" ? "awaitedTimeoutSeconds" : "backgroundTimeoutSeconds";
  const timeoutMs = capped(timeout, "timeout_seconds", definition.timeoutSeconds) * 1_000;
  const iterations = capped("delegatedIterations", "max_iterations", definition.iterations);
  const run = d.state.runsCreated + 1;
  d.emit({
    type: "run-created",
    run,
    parent: parent.number,
    id: d.uuid(),
    agent: d.uuid(),
    mode,
    definition: name,
    call,
    model:
      model === undefined
        ? undefined
        : { name: model, window: facts.model?.window ?? null, price: facts.model?.price ?? null },
    iterations,
    timeoutMs,
    size: JSON.stringify(args).length,
    announce: request.unannounced === true ? "none" : args["announce"] === "each" ? "each" : undefined,
    group: textOf(args["group"]),
    cleanup: args["cleanup"] === "delete" ? "delete" : undefined,
    typed: args["output_schema"] !== undefined || definition.typed ? true : undefined,
    lowered: lowered.length === 0 ? undefined : lowered,
  });
  warnIfNear(d);
  d.later({ do: "start-queued", agent: parent.number });
  return run;
}

/** Why the tree or the agent allows no run, whatever is asked for. */
function treeRefusal({ settings, state }: Deciding, parent: AgentState, args: Arguments): Refusal | null {
  const { maxDepth, runsPerTree } = settings.limits;
  if (!settings.subagentEnabled) return { reason: "not-enabled", error: "subagent is not enabled in this phase" };
  if (parent.depth >= maxDepth) return { reason: "depth-limit", error: `depth limit reached (max_depth ${maxDepth})` };
  if (state.runsCreated >= runsPerTree)
    return { reason: "run-limit", error: `run limit reached (${runsPerTree} runs in this tree)` };
  return taskOf(args).trim() === "" ? { reason: "refused", error: "the task is empty" } : null;
}

/** Why this run cannot be made: its model, its budget, its schema. */
function callRefusal(
  { settings, state }: Deciding,
  definition: DefinitionFacts,
  request: SpawnRequest,
): Refusal | null {
  const { args, facts } = request;
  if (facts.problem !== undefined) return { reason: "refused", error: facts.problem };
  const { tokensPerTree, costPerTree } = settings.limits;
  if (tokensPerTree !== null && state.ledger.tokens >= tokensPerTree)
    return { reason: "token-limit", error: `token limit reached (${tokensPerTree} tokens in this tree)` };
  if (costPerTree !== null && state.ledger.cost >= costPerTree)
    return { reason: "cost-limit", error: `cost limit reached (${costPerTree} micro-dollars in this tree)` };
  const model = textOf(args["model"]);
  const price = model === undefined ? definition.price : (facts.model?.price ?? null);
  if (costPerTree !== null && price === null)
    return { reason: "price-unknown", error: priceUnknown(model ?? definition.model) };
  const schema = outputSchemaOf(args);
  if (schema === null) {
    const error = "`output_schema` must be the JSON text of an object, at most 64 levels deep";
    return { reason: "invalid-arguments", error };
  }
  if ((schema !== undefined || definition.typed) && definition.reporting === "tag") {
    const error = `typed results need a definition that reports by tool; "${definition.name}" reports by tag`;
    return { reason: "refused", error };
  }
  return null;
}

/** Why an outside child cannot be made: its runner, or a model that it could not be given. */
function outsideRefusal(
  { state }: Deciding,
  parent: AgentState,
  definition: DefinitionFacts,
  args: Arguments,
): Refusal | null {
  if (definition.runner === undefined) return null;
  if (args["model"] !== undefined)
    return { reason: "refused", error: `leave \`model\` out: "${definition.name}" runs outside and has its own` };
  return runnerRefusal(state.rights, definitionWithin(parent, definition));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function taskOf(args: Arguments): string {
  return textOf(args["task"]) ?? "";
}

/** Names of definitions, for messages. */
export function definitionNames(d: Deciding, listed: (definition: DefinitionFacts) => boolean): string {
  const definitions = [...d.state.catalog.values()].filter(listed);
  return definitions.map(({ name }) => name).join(", ");
}

/** Starts queued children while the parent may have another live child and the process has a free slot. */
export function startQueued(d: Deciding, number: AgentNumber): void {
  const parent = d.state.agents.get(number);
  while (parent !== undefined && parent.live.size < d.settings.limits.liveChildren) {
    const run = parent.queue[0];
    if (run === undefined || !d.slotFree(number)) return;
    d.emit({ type: "run-started", run });
    const child = d.state.agents.get(run);
    if (child?.definition.runner !== undefined) startSession(d, child);
    else if (child !== undefined) callModel(d, child);
    refreshIfIdle(d, number);
  }
}

/** A run asked for from outside. Its refusal is why the input is rejected. */
export function runAsked(d: Deciding, input: FactOf<"run-asked">): string | null {
  const parent = d.state.agents.get(input.parent);
  if (parent === undefined) return "the agent is closed";
  const asked = withSchemaText(d.texts[0] ?? {});
  const args = jsonObjectIs(asked) ? asked : {};
  const problem = argumentsProblem(SPAWN_SCHEMA, args);
  const refused = ({ reason, error }: Refusal): string => {
    d.refused({ id: input.id, task: taskOf(args), reason, error });
    return error;
  };
  if (problem !== null) return refused({ reason: "invalid-arguments", error: problem });
  d.accept();
  const unannounced = input.announce === "none" || parent.kind === "host";
  const run = spawn(d, parent, { mode: "background", call: null, args, facts: input.facts, unannounced });
  return typeof run === "number" ? null : refused(run);
}
