/** Deciding a call of a delegation tool: who may call it, whether its arguments fit, and what it does. */

import { type Answer, answer, type Call, readStore, toolError } from "../agent/answer.ts";
import type { CallFacts } from "../input.ts";
import { refusedCall } from "../permissions/process-rights.ts";
import type { AgentState } from "../state.ts";
import type { Deciding } from "../step.ts";
import { type Json, jsonObjectIs } from "../values/json.ts";
import type { ToolCallPart } from "../values/message.ts";
import { argumentsProblem, propertyProblem } from "./arguments.ts";
import { cancelRun, steerRun } from "./control.ts";
import { reportRefused, sendAgentMessage } from "./send-agent-message.ts";
import { sendUserMessage } from "./send-user-message.ts";
import { refusedDelegation, startBackgroundAgent, subagent, useSkill } from "./spawn-tools.ts";
import { DELEGATION_TOOLS, delegationSchema, type DelegationTool, visibilityOf } from "./tools.ts";
import { withSchemaText } from "./typed-data.ts";

/** "open": the answer comes later in this tree. "read": the store answers. */
type Decided = Answer | "open" | "read";

const DECIDERS: { readonly [Tool in DelegationTool]: (d: Deciding, agent: AgentState, call: Call) => Decided } = {
  send_agent_message: sendAgentMessage,
  send_user_message: sendUserMessage,
  subagent,
  start_background_agent: startBackgroundAgent,
  use_skill: useSkill,
  list_runs: () => "read",
  read_result(_d, _agent, { args: { run_id, call_id } }) {
    const one = (run_id === undefined) !== (call_id === undefined);
    return one ? "read" : toolError("read_result: give either `run_id` or `call_id`, and not both");
  },
  cancel_run: cancelRun,
  steer_run: steerRun,
};

type DelegationPart = ToolCallPart & { readonly name: DelegationTool };
type DelegationCall = Call & { readonly name: DelegationTool };

export function answerDelegation(d: Deciding, agent: AgentState, part: DelegationPart, facts: CallFacts): void {
  const { id, name } = part;
  const starts = name === "subagent" || name === "start_background_agent";
  // For tools that start runs, runs/spawn.ts refuses an agent that may not delegate, and names the limit.
  if (!starts && !DELEGATION_TOOLS[name].visible(agent, visibilityOf(d.settings, d.state.catalog)))
    return answer(d, agent, id, toolError(refusedCall(name, "unknown")));
  const input = withSchemaText(part.input);
  const call: DelegationCall = { id, name, args: jsonObjectIs(input) ? input : {}, facts };
  const problem = argumentsProblem(delegationSchema(name, agent), input);
  if (problem !== null) return answer(d, agent, id, argumentsRefused(d, agent, call, problem));
  const decided = DECIDERS[name](d, agent, call);
  if (decided === "read") readStore(d, agent, part);
  else if (decided !== "open") answer(d, agent, id, decided);
}

/** The answer to arguments that do not fit: in the tool's own shape, if it has one (rules D1, F5). */
function argumentsRefused(d: Deciding, agent: AgentState, call: DelegationCall, problem: string): Answer {
  const { name } = call;
  const error = `${name}: ${problem}`;
  if (name === "subagent" || name === "start_background_agent")
    return refusedDelegation(d, name, call, { reason: "invalid-arguments", error });
  const run = d.state.runs.get(agent.number);
  const { artifacts } = call.args;
  if (run !== undefined && name === "send_agent_message" && artifacts !== undefined && !artifactsFit(artifacts))
    reportRefused(d, run, error);
  return toolError(error);
}

function artifactsFit(artifacts: Json): boolean {
  const { properties } = DELEGATION_TOOLS.send_agent_message.schema;
  return propertyProblem(properties.artifacts, artifacts, "artifacts") === null;
}
