/** What follows from a tool call: an answer at once, or an effect whose result comes back as an input. */

import type { Deciding } from "../deciding.ts";
import type { CallFacts, Input } from "../event.ts";
import { sendUserMessage } from "../inbox/send-user-message.ts";
import { judgeCall, refusedCall, toolHeld } from "../permissions/process-rights.ts";
import { ask } from "../questions/questions.ts";
import { reportRefused, sendAgentMessage } from "../reports/send-agent-message.ts";
import { cancelRun, steerRun } from "../runs/control.ts";
import { withSchemaText } from "../runs/output-schema-argument.ts";
import { refusedDelegation } from "../runs/refusal.ts";
import { startBackgroundAgent, subagent, useSkill } from "../runs/spawn.ts";
import type { ToolCallPart } from "../message.ts";
import { REDACTED } from "../text/index.ts";
import type { AgentState } from "../state.ts";
import { type Answer, answer, type Call, callOpens, toolError, toolOpens } from "./answer.ts";
import { argumentsProblem, propertyProblem } from "./arguments.ts";
import { estimatedUsage } from "./call-model.ts";
import {
  DELEGATION_SCHEMAS,
  type DelegationTool,
  delegationSchema,
  delegationToolIs,
  delegationToolVisible,
  visibilityOf,
} from "./delegation-tools.ts";
import { type Json, jsonObjectIs } from "../json.ts";

type InputOf<Type extends Input["type"]> = Extract<Input, { type: Type }>;

const HOLDS_MARK = `the arguments hold "${REDACTED}", which stands for a secret that you were not shown; leave the part of the file that holds it as it is, and go on without it`;

/** Decides one call of a reply. */
export function answerCall(d: Deciding, agent: AgentState, part: ToolCallPart, facts: CallFacts): void {
  if (delegationToolIs(part.name)) return answerDelegation(d, agent, { ...part, name: part.name }, facts);
  const tool = agent.definition.tools.find((held) => held.name === part.name);
  if (tool === undefined) return answer(d, agent, part.id, toolError(refusedCall(part.name, "unknown")));
  if (typeof part.input === "string") {
    return answer(d, agent, part.id, toolError(`${part.name}: the arguments are not valid JSON; send one JSON object`));
  }
  // A file or a command would get the mark instead of the secret that it stands for.
  if (!tool.safe && JSON.stringify(part.input).includes(REDACTED)) {
    return answer(d, agent, part.id, toolError(`${part.name}: ${HOLDS_MARK}`));
  }
  const judgement = judgeCall(d.state.rights, agent.definition, { ...part, file: facts.file }, d.state.grants);
  // Nobody is asked about a call that cannot be made.
  if (judgement === "ask" && facts.problem !== undefined) return answer(d, agent, part.id, toolError(facts.problem));
  if (judgement === "allow") return toolOpens(d, agent, part);
  if (judgement === "ask") return ask(d, agent, part);
  answer(d, agent, part.id, toolError(refusedCall(part.name, judgement)));
}

function answerDelegation(
  d: Deciding,
  agent: AgentState,
  part: ToolCallPart & { readonly name: DelegationTool },
  facts: CallFacts,
): void {
  const { id, name } = part;
  const starts = name === "subagent" || name === "start_background_agent";
  // A child that may not delegate is told the limit by the gate of all runs, in the shape of the tool.
  if (!starts && !delegationToolVisible(name, agent, visibilityOf(d.settings, d.state.catalog))) {
    return answer(d, agent, id, toolError(refusedCall(name, "unknown")));
  }
  const input = withSchemaText(part.input);
  const problem = argumentsProblem(delegationSchema(name, agent), input);
  if (problem !== null) return answer(d, agent, id, argumentsRefused(d, agent, part, problem));
  const args = jsonObjectIs(input) ? input : {};
  const given = decideDelegation(d, agent, name, { id, name, args, facts });
  if (given === "read") return callOpens(d, agent, part, { read: true });
  if (given !== "open") answer(d, agent, id, given);
}

/** The answer to arguments that do not fit: in the tool's own shape, where it has one (rules D1, F5). */
function argumentsRefused(
  d: Deciding,
  agent: AgentState,
  { name, input }: ToolCallPart & { readonly name: DelegationTool },
  problem: string,
): Answer {
  const error = `${name}: ${problem}`;
  if (name === "subagent" || name === "start_background_agent")
    return refusedDelegation(name, { reason: "invalid-arguments", error });
  const run = d.state.runs.get(agent.number);
  const artifacts = jsonObjectIs(input) ? input["artifacts"] : undefined;
  if (run !== undefined && name === "send_agent_message" && artifacts !== undefined && !artifactsFit(artifacts))
    reportRefused(d, run, error);
  return toolError(error);
}

function artifactsFit(artifacts: Json): boolean {
  return propertyProblem(DELEGATION_SCHEMAS.send_agent_message.properties.artifacts, artifacts, "artifacts") === null;
}

/** "open": the answer comes with the end of a run. "read": it stands in the store. */
function decideDelegation(d: Deciding, agent: AgentState, name: DelegationTool, call: Call): Answer | "open" | "read" {
  switch (name) {
    case "send_agent_message":
      return sendAgentMessage(d, agent, call);
    case "send_user_message":
      return sendUserMessage(d, agent, call);
    case "subagent":
      return subagent(d, agent, call);
    case "start_background_agent":
      return startBackgroundAgent(d, agent, call);
    case "use_skill":
      return useSkill(d, agent, call);
    case "cancel_run":
      return cancelRun(d, agent, call);
    case "steer_run":
      return steerRun(d, agent, call);
    case "list_runs":
    case "read_result":
      return "read";
  }
}

export function toolFinished(d: Deciding, input: InputOf<"tool-finished">): string | null {
  const effect = d.state.effects.get(input.effect);
  if (effect === undefined || effect.attempt !== input.attempt || effect.call === null) return "no such effect is open";
  d.accept();
  d.later({ do: "iterate", agent: effect.agent });
  return null;
}

/** Effects whose process is gone: what is safe to repeat is repeated, what is not is told to the model as of unknown outcome. */
export function effectsLost(d: Deciding, input: InputOf<"effects-lost">): string | null {
  const lost = input.effects.filter((key) => d.state.effects.has(key));
  if (lost.length === 0) return "no such effect is open";
  d.accept();
  for (const key of lost) {
    const effect = d.state.effects.get(key);
    if (effect === undefined || effect.retryAt !== null) continue;
    const agent = d.state.agents.get(effect.agent);
    if (effect.kind === "model" && effect.underWay && agent !== undefined)
      d.emit({ type: "usage-estimated", agent: agent.number, effect: key, usage: estimatedUsage(agent) });
    const held = agent !== undefined && toolHeld(d.state.rights, agent.definition, effect.name);
    if (effect.kind === "tool" && !(effect.safe && held) && agent !== undefined && effect.call !== null) {
      answer(
        d,
        agent,
        effect.call,
        toolError("interrupted, outcome unknown: the process that ran this tool is gone; check before you repeat it"),
      );
      d.later({ do: "iterate", agent: agent.number });
      continue;
    }
    const attempt = effect.attempt + 1;
    d.emit({ type: "effect-repeated", effect: key, attempt });
    const { kind, call, name } = effect;
    if (kind === "model") d.effect({ type: "call-model", key, attempt, agent: effect.agent });
    else if (kind === "erase") d.effect({ type: "erase-texts", key, attempt, run: effect.agent });
    else if (call !== null && name !== null) {
      d.effect({ type: kind === "tool" ? "call-tool" : "read-store", key, attempt, agent: effect.agent, call, name });
    }
  }
  return null;
}
