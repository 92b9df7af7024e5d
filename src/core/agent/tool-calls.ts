/**
 * What follows from a tool call: an answer at once, a question to the user, or an effect whose result is a later input.
 */

import { answerDelegation } from "../delegation/dispatch.ts";
import { delegationToolIs } from "../delegation/tools.ts";
import type { FactOf } from "../event.ts";
import type { CallFacts } from "../input.ts";
import { callGranted } from "../permissions/grants.ts";
import { tellAgain } from "../outside/session.ts";
import { judgeCall, refusedCall, toolHeld } from "../permissions/process-rights.ts";
import { askUser } from "../questions/questions.ts";
import type { AgentState } from "../state.ts";
import type { Deciding } from "../step.ts";
import { REDACTED } from "../text/index.ts";
import type { StepKey } from "../values/ids.ts";
import type { ToolCallPart } from "../values/message.ts";
import { answer, callTool, toolError } from "./answer.ts";
import { estimatedUsage } from "./call-model.ts";

const HOLDS_MARK =
  `the arguments contain "${REDACTED}", which stands for a secret that you were not shown; ` +
  "leave the part of the file that contains it as it is, and continue without it";

/** Decides one call of a reply. */
export function answerCall(d: Deciding, agent: AgentState, part: ToolCallPart, facts: CallFacts): void {
  const { id, name, input } = part;
  if (delegationToolIs(name)) return answerDelegation(d, agent, { ...part, name }, facts);
  const refuse = (problem: string): void => answer(d, agent, id, toolError(problem));
  const tool = agent.definition.tools.find((held) => held.name === name);
  if (tool === undefined) return refuse(refusedCall(name, "unknown"));
  if (typeof input === "string") return refuse(`${name}: the arguments are not valid JSON; send one JSON object`);
  // The tool would write the mark in place of the secret.
  if (!tool.safe && JSON.stringify(input).includes(REDACTED)) return refuse(`${name}: ${HOLDS_MARK}`);
  const judgement = judgeCall(d.state.rights, agent.definition, { ...part, file: facts.file }, d.state.grants);
  const asks = facts.asks === true && !callGranted(d.state.grants, { ...part, file: facts.file });
  if (judgement === "allow" && !asks) return callTool(d, agent, part);
  if (judgement !== "ask" && judgement !== "allow") return refuse(refusedCall(name, judgement));
  // The user is not asked about a call that cannot be made.
  if (facts.problem !== undefined) return refuse(facts.problem);
  askUser(d, agent, part);
}

export function toolFinished(d: Deciding, input: FactOf<"tool-finished">): string | null {
  const effect = d.state.effects.get(input.effect);
  if (effect === undefined || effect.attempt !== input.attempt || effect.call === null) return "no such effect is open";
  d.accept();
  d.later({ do: "continue-turn", agent: effect.agent });
  return null;
}

/** The call is made, for the first time as far as the tool knows. */
export function toolNotRun(d: Deciding, { effect: key, attempt }: FactOf<"tool-not-run">): string | null {
  const effect = d.state.effects.get(key);
  if (effect === undefined || effect.attempt !== attempt || effect.call === null || effect.name === null)
    return "no such effect is open";
  d.accept();
  const { agent, call, name } = effect;
  d.emit({ type: "effect-repeated", effect: key, attempt: attempt + 1 });
  d.effect({ type: "call-tool", key, attempt: attempt + 1, agent, call, name });
  return null;
}

/**
 * Effects whose process is gone. Safe ones are repeated. A tool that recovers is asked what became of its call. Any
 * other call is answered: its outcome is unknown.
 */
export function effectsLost(d: Deciding, { effects }: FactOf<"effects-lost">): string | null {
  const lost = effects.filter((key) => d.state.effects.has(key));
  if (lost.length === 0) return "no such effect is open";
  d.accept();
  for (const key of lost) effectLost(d, key);
  return null;
}

const OUTCOME_UNKNOWN =
  "interrupted, outcome unknown: the process that ran this tool is gone; check before you repeat it";

function effectLost(d: Deciding, key: StepKey): void {
  const effect = d.state.effects.get(key);
  if (effect === undefined || effect.retryAt !== null) return;
  const { kind, call, name } = effect;
  const agent = d.state.agents.get(effect.agent);
  if (kind === "model" && effect.underWay && agent !== undefined)
    d.emit({ type: "usage-estimated", agent: agent.number, effect: key, usage: estimatedUsage(agent) });
  const held = agent !== undefined && toolHeld(d.state.rights, agent.definition, name);
  const recovers = held && agent.definition.tools.some((tool) => tool.name === name && tool.recovers === true);
  const repeatable = held && (effect.safe || recovers);
  if (kind === "tool" && !repeatable && agent !== undefined && call !== null) {
    answer(d, agent, call, toolError(OUTCOME_UNKNOWN));
    return d.later({ do: "continue-turn", agent: agent.number });
  }
  const attempt = effect.attempt + 1;
  d.emit({ type: "effect-repeated", effect: key, attempt });
  if (kind === "model") d.effect({ type: "call-model", key, attempt, agent: effect.agent });
  else if (kind === "runner") d.effect({ type: "start-runner", key, attempt, agent: effect.agent });
  else if (kind === "tell") tellAgain(d, key, effect.agent, attempt);
  else if (kind === "erase") d.effect({ type: "erase-texts", key, attempt, run: effect.agent });
  else if (call !== null && name !== null) {
    const type = kind === "read" ? "read-store" : effect.safe ? "call-tool" : "recover-tool";
    d.effect({ type, key, attempt, agent: effect.agent, call, name });
  }
}
