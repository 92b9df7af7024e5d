/** What follows from a model's reply, or from its failure. */

import type { Deciding } from "../deciding.ts";
import type { Input } from "../event.ts";
import type { AgentState, OpenEffect, Turn } from "../state.ts";
import { replyPartsOf, replyText } from "../message.ts";
import { closingCall } from "../reports/final-report.ts";
import { messageNoMessageIs, messageSaid, sayBlocks, tagExtract } from "../text/index.ts";
import { contextTokens, estimatedUsage, issueCall } from "./call-model.ts";
import { modelCost } from "./prices.ts";
import { answerCall } from "./tool-calls.ts";
import { finishTurn } from "./turns.ts";

type InputOf<Type extends Input["type"]> = Extract<Input, { type: Type }>;

/** To how many characters results of tools are cut when a context is too long, and then to how many if it still is. */
const RESULT_LENGTHS = [16_384, 4_096, 1_024] as const;
/** Waits before the second, third and fourth attempt of a call, in milliseconds. */
const RETRY_WAITS = [1_000, 4_000, 16_000] as const;
/** By how much of itself a wait may grow at random, so that those who failed together do not come back together. */
const RETRY_JITTER = 0.25;
/** A provider that asks for a longer wait than this is not waited for: whoever asked is told at once. */
const RETRY_WAIT_MOST = 600_000;

/** The effect that a result names, if it is open and of that attempt. */
function openEffect(d: Deciding, key: OpenEffectKey, attempt: number): OpenEffect | null {
  const effect = d.state.effects.get(key);
  return effect === undefined || effect.attempt !== attempt || !effect.underWay ? null : effect;
}
type OpenEffectKey = InputOf<"model-replied">["effect"];

/** Takes in how a call ended. What it used is booked, at an estimate if nobody told. */
function acceptUsed(d: Deciding, agent: AgentState, input: InputOf<"model-replied" | "model-failed">): void {
  const usage = estimatedUsage(agent);
  d.accept();
  if (input.usage === null) d.emit({ type: "usage-estimated", agent: agent.number, effect: input.effect, usage });
}

/** The wire of a call that was given up has told what it used. */
export function usageLearnt(d: Deciding, { effect, attempt, usage }: InputOf<"usage-learnt">): string | null {
  const call = d.state.aborted.get(effect);
  if (call === undefined || call.attempt !== attempt) return "no such call was given up";
  d.accept();
  if (call.run === null) return null;
  const { number, tokens, cost } = call.run;
  d.emit({
    type: "run-settled",
    run: number,
    tokens: tokens - call.tokens + usage.input + usage.output,
    cost: cost - call.cost + modelCost(call.price, usage),
  });
  return null;
}

export function modelReplied(d: Deciding, input: InputOf<"model-replied">): string | null {
  const effect = openEffect(d, input.effect, input.attempt);
  const agent = effect === null ? undefined : d.state.agents.get(effect.agent);
  if (effect === null || effect.kind !== "model" || agent === undefined || agent.turn === null)
    return "no such effect is open";
  acceptUsed(d, agent, input);
  const parts = replyPartsOf(d.texts[0]);
  if (input.stop === "refused") {
    d.later({ do: "fail-turn", agent: agent.number, end: { status: "error", reason: "refused" } });
    return null;
  }
  if (effect.compaction && replyText(parts).trim() === "") {
    d.later({ do: "fail-turn", agent: agent.number, end: { status: "error", reason: "context-overflow" } });
    return null;
  }
  if (effect.compaction) {
    d.emit({ type: "context-compacted", agent: agent.number, size: input.size });
    issueCall(d, agent, false);
    return null;
  }
  const text = replyText(parts);
  const silent = messageNoMessageIs(text);
  const commentary = parts.some((part) => part.type === "tool-call") ? true : undefined;
  if (agent.kind === "foreground" && !silent) sendToUser(d, agent, text, commentary);
  let called = false;
  for (const [index, part] of parts.entries()) {
    if (part.type !== "tool-call") continue;
    called = true;
    answerCall(d, agent, part, input.facts?.[index] ?? {});
  }
  if (called) d.later({ do: "iterate", agent: agent.number });
  else
    finishTurn(d, agent, {
      silent,
      tagged: agent.definition.reporting === "tag" && tagExtract(text, "response") !== null,
    });
  return null;
}

/** What of a foreground agent's reply its user is shown. */
function sendToUser(d: Deciding, agent: AgentState, text: string, commentary: true | undefined): void {
  if (!agent.definition.say) {
    if (messageSaid(text).trim() !== "")
      d.emit({ type: "channel-sent", agent: agent.number, n: d.number(), commentary });
    return;
  }
  for (const [index] of sayBlocks(text).entries()) {
    d.emit({ type: "channel-sent", agent: agent.number, n: d.number(), say: index, commentary });
  }
}

/** A context that was too long says where the model's window ends, so that the next one is made smaller in time. */
function learnWindow(d: Deciding, agent: AgentState): void {
  const window = Math.max(1, contextTokens(agent));
  if (agent.definition.window !== null && agent.definition.window <= window) return;
  d.emit({ type: "window-learnt", agent: agent.number, window });
}

/**
 * Answers a context that was too long: earlier turns are summarised, once in a turn; what is too long all the same has long results of
 * tools in it, which are cut. False: there is nothing left to cut.
 */
function makeRoom(d: Deciding, agent: AgentState, turn: Turn, compacting: boolean): boolean {
  const summarise = !compacting && !turn.compacted && agent.turns > 1;
  const keep = summarise ? undefined : RESULT_LENGTHS.find((length) => length < agent.longestResult);
  if (!summarise && keep === undefined) return false;
  d.emit({ type: "turn-model-dropped", agent: agent.number });
  if (!compacting) learnWindow(d, agent);
  if (keep !== undefined) d.emit({ type: "results-shortened", agent: agent.number, keep });
  issueCall(d, agent, summarise || compacting);
  return true;
}

/** How long to wait after so many failures: never less than the provider asked for. Null: there is no further attempt. */
function retryWait(d: Deciding, failures: number, asked: number): number | null {
  const own = RETRY_WAITS[failures - 1];
  if (own === undefined || asked > RETRY_WAIT_MOST) return null;
  const wait = Math.max(own, asked);
  return wait + Math.floor(wait * RETRY_JITTER * d.fraction());
}

export function modelFailed(d: Deciding, input: InputOf<"model-failed">): string | null {
  const effect = openEffect(d, input.effect, input.attempt);
  const agent = effect === null ? undefined : d.state.agents.get(effect.agent);
  if (effect === null || effect.kind !== "model" || agent === undefined || agent.turn === null)
    return "no such effect is open";
  acceptUsed(d, agent, input);
  // A run that has reported is not kept open to say goodbye (rule B7).
  const closing = closingCall(agent);
  if (!closing && input.code === "context-overflow" && makeRoom(d, agent, agent.turn, effect.compaction)) return null;
  const patient =
    !closing && (input.retryable || (agent.turn.announcement !== null && input.code === "provider-error"));
  const wait = patient ? retryWait(d, effect.failures, input.retryAfterMs ?? 0) : null;
  if (wait !== null) {
    d.emit({ type: "model-retry-set", effect: input.effect, at: d.at + wait });
    return null;
  }
  const error = d.texts[0];
  d.later({
    do: "fail-turn",
    agent: agent.number,
    end: { status: "error", reason: input.code, ...(typeof error === "string" ? { error } : {}) },
  });
  return null;
}
