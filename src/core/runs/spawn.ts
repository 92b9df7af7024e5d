/**
 * Starting a run. Every way to start one goes through `spawn`, the one gate that holds depth, number, budget and rights.
 */

import { type Answer, type Call, toolAnswer, toolError } from "../agent/answer.ts";
import { outputSchemaOf, withSchemaText } from "./output-schema-argument.ts";
import { refusedDelegation } from "./refusal.ts";
import { priceUnknown, warn } from "../agent/call-model.ts";
import { type Arguments, argumentsProblem } from "../agent/arguments.ts";
import { SPAWN_SCHEMA } from "../agent/delegation-tools.ts";
import type { Deciding, Refusal } from "../deciding.ts";
import type { DefinitionFacts } from "../definition.ts";
import type { CallFacts, Input } from "../event.ts";
import type { RunNumber } from "../ids.ts";
import type { RunMode } from "../journal.ts";
import { jsonObjectIs } from "../json.ts";
import { limitAsked } from "../limits.ts";
import type { AgentState } from "../state.ts";

/** What the child of a skill is asked when the caller says nothing more. */
export const SKILL_TASK = "Do what the skill describes.";

interface Wish {
  readonly mode: RunMode;
  /** The definition the child is made from. A skill is used, not sent on errands. */
  readonly definition: string;
  readonly skill?: true;
  readonly call: string | null;
  readonly args: Arguments;
  readonly facts: CallFacts;
}

/** Makes the run, or says why not; nothing is half-made. */
function spawn(d: Deciding, parent: AgentState, wish: Wish): RunNumber | Refusal {
  const { args, facts, mode } = wish;
  const { limits } = d.settings;
  if (!d.settings.subagentEnabled) return { reason: "not-enabled", error: "subagent is not enabled in this phase" };
  if (parent.depth >= limits.maxDepth) {
    return { reason: "depth-limit", error: `depth limit reached (max_depth ${limits.maxDepth})` };
  }
  if (d.state.runsCreated >= limits.runsPerTree) {
    return { reason: "run-limit", error: `run limit reached (${limits.runsPerTree} runs in this tree)` };
  }
  if (typeof args["task"] !== "string" || args["task"].trim() === "")
    return { reason: "refused", error: "the task is empty" };
  const name = wish.definition;
  const definition = d.state.catalog.get(name);
  if (definition === undefined || (definition.skill !== undefined && wish.skill === undefined)) {
    const known = namesOf(d, (facts) => facts.skill === undefined);
    return { reason: "unknown-agent", error: `there is no agent definition "${name}" (known: ${known})` };
  }
  if (facts.problem !== undefined) return { reason: "refused", error: facts.problem };
  const { tokensPerTree, costPerTree } = limits;
  if (tokensPerTree !== null && d.state.ledger.tokens >= tokensPerTree) {
    return { reason: "token-limit", error: `token limit reached (${tokensPerTree} tokens in this tree)` };
  }
  if (costPerTree !== null && d.state.ledger.cost >= costPerTree) {
    return { reason: "cost-limit", error: `cost limit reached (${costPerTree} micro-dollars in this tree)` };
  }
  const price = typeof args["model"] === "string" ? (facts.model?.price ?? null) : definition.price;
  if (costPerTree !== null && price === null) {
    const model = typeof args["model"] === "string" ? args["model"] : definition.model;
    return { reason: "price-unknown", error: priceUnknown(model) };
  }
  const asked = outputSchemaOf(args);
  if (asked === null)
    return {
      reason: "invalid-arguments",
      error: "`output_schema` must be the JSON text of an object, at most 64 levels deep",
    };
  const typed = asked !== undefined || definition.typed;
  if (typed && definition.reporting === "tag") {
    return {
      reason: "refused",
      error: `typed results need a definition that reports by tool; "${name}" reports by tag`,
    };
  }
  const run = d.state.runsCreated + 1;
  const timeout = mode === "awaited" ? "awaitedTimeoutSeconds" : "backgroundTimeoutSeconds";
  const seconds = wanted(args["timeout_seconds"], definition.timeoutSeconds) ?? limits[timeout];
  const iterations = wanted(args["max_iterations"], definition.iterations) ?? limits.delegatedIterations;
  const secondsHeld = limitAsked(timeout, seconds, d.settings);
  const iterationsHeld = limitAsked("delegatedIterations", iterations, d.settings);
  const lowered: string[] = [];
  if (secondsHeld < seconds) lowered.push("timeout_seconds");
  if (iterationsHeld < iterations) lowered.push("max_iterations");
  const model = typeof args["model"] === "string" ? args["model"] : undefined;
  d.emit({
    type: "run-created",
    run,
    parent: parent.number,
    id: d.uuid(),
    agent: d.uuid(),
    mode,
    definition: name,
    call: wish.call,
    model:
      model === undefined
        ? undefined
        : { name: model, window: facts.model?.window ?? null, price: facts.model?.price ?? null },
    iterations: iterationsHeld,
    timeoutMs: secondsHeld * 1_000,
    size: JSON.stringify(args).length,
    announce: args["announce"] === "each" ? "each" : undefined,
    group: typeof args["group"] === "string" ? args["group"] : undefined,
    cleanup: args["cleanup"] === "delete" ? "delete" : undefined,
    typed: typed ? true : undefined,
    lowered: lowered.length === 0 ? undefined : lowered,
  });
  warn(d);
  d.later({ do: "fill", agent: parent.number });
  return run;
}

function namesOf(d: Deciding, listed: (facts: DefinitionFacts) => boolean): string {
  return [...d.state.catalog.values()]
    .filter(listed)
    .map((facts) => facts.name)
    .join(", ");
}

function definitionAsked(args: Arguments): string {
  return typeof args["agent"] === "string" ? args["agent"] : "worker";
}

function wanted(asked: unknown, defined: number | null): number | null {
  return typeof asked === "number" ? asked : defined;
}

/** The awaited tool: the answer comes with the end of the run. */
export function subagent(d: Deciding, agent: AgentState, call: Call): Answer | "open" {
  const run = spawn(d, agent, {
    mode: "awaited",
    definition: definitionAsked(call.args),
    call: call.id,
    args: call.args,
    facts: call.facts,
  });
  return typeof run === "number" ? "open" : refusedDelegation("subagent", run);
}

/** A skill that asks for isolation runs as an awaited child; any other is read into the context. */
export function useSkill(d: Deciding, agent: AgentState, call: Call): Answer | "open" {
  const name = typeof call.args["name"] === "string" ? call.args["name"] : "";
  const kind = d.state.catalog.get(name)?.skill;
  if (kind === undefined) {
    return toolError(
      `use_skill: there is no skill "${name}" (known: ${namesOf(d, (facts) => facts.skill !== undefined)})`,
    );
  }
  if (kind === "inline") {
    d.emit({ type: "tool-answered", agent: agent.number, call: call.id, skill: name, size: 0 });
    return "open";
  }
  const args = { task: SKILL_TASK, ...call.args };
  const run = spawn(d, agent, {
    mode: "awaited",
    definition: name,
    skill: true,
    call: call.id,
    args,
    facts: call.facts,
  });
  return typeof run === "number" ? "open" : refusedDelegation("subagent", run);
}

export function startBackgroundAgent(d: Deciding, agent: AgentState, call: Call): Answer {
  const run = spawn(d, agent, {
    mode: "background",
    definition: definitionAsked(call.args),
    call: call.id,
    args: call.args,
    facts: call.facts,
  });
  if (typeof run !== "number") return refusedDelegation("start_background_agent", run);
  const made = d.state.runs.get(run);
  return toolAnswer({ status: "accepted", run_id: made?.id ?? "", agent_id: made?.agent ?? "" });
}

/** A run asked for from outside. Its refusal is why the input changes nothing. */
export function runAsked(d: Deciding, input: Extract<Input, { type: "run-asked" }>): string | null {
  const parent = d.state.agents.get(input.parent);
  if (parent === undefined) return "the agent is closed";
  const given = withSchemaText(d.texts[0] ?? {});
  const args = jsonObjectIs(given) ? given : {};
  const problem = argumentsProblem(SPAWN_SCHEMA, args);
  if (problem !== null) return refusedFromOutside(d, { reason: "invalid-arguments", error: problem });
  d.accept();
  const run = spawn(d, parent, {
    mode: "background",
    definition: definitionAsked(args),
    call: null,
    args,
    facts: input.facts,
  });
  return typeof run === "number" ? null : refusedFromOutside(d, run);
}

function refusedFromOutside(d: Deciding, refusal: Refusal): string {
  d.refused(refusal);
  return refusal.error;
}
