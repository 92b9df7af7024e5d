/** What follows from a model call's result: the next iteration, the end of the turn, a retry, or a smaller context. */

import type { FactOf } from "../event.ts";
import { onlyClosingCallLeft } from "../reports/final-report.ts";
import type { AgentState, OpenEffect, Turn } from "../state.ts";
import type { Deciding } from "../step.ts";
import { messageNoMessageIs, messageSaid, sayBlocks, tagExtract } from "../text/index.ts";
import { modelCost } from "../values/definition.ts";
import { replyPartsOf, replyText } from "../values/message.ts";
import { contextTokens, estimatedUsage, issueCall } from "./call-model.ts";
import { answerCall } from "./tool-calls.ts";
import { finishTurn } from "./turns.ts";

/** While a context is too long, tool results are cut to these lengths in characters, one after the other. */
const RESULT_LENGTHS = [16_384, 4_096, 1_024] as const;
/** Waits before the second, third and fourth attempt of a call, in milliseconds. */
const RETRY_WAITS = [1_000, 4_000, 16_000] as const;
/** A wait grows at random by up to this part of itself, so that calls that failed together are not retried together. */
const RETRY_JITTER = 0.25;
/** If a provider asks for a longer wait than this, the call fails at once. */
const RETRY_WAIT_MOST = 600_000;

const NOT_OPEN = "no such effect is open";

interface OpenCall {
  readonly effect: OpenEffect;
  readonly agent: AgentState;
  readonly turn: Turn;
}

/** Accepts the result of a call, with its usage or an estimate. Null if no such call is open. */
function acceptResult(d: Deciding, input: FactOf<"model-replied" | "model-failed">): OpenCall | null {
  const effect = d.state.effects.get(input.effect);
  if (effect?.kind !== "model" || effect.attempt !== input.attempt || !effect.underWay) return null;
  const agent = d.state.agents.get(effect.agent);
  if (agent === undefined || agent.turn === null) return null;
  const usage = estimatedUsage(agent);
  d.accept();
  if (input.usage === null) d.emit({ type: "usage-estimated", agent: agent.number, effect: input.effect, usage });
  return { effect, agent, turn: agent.turn };
}

/** The provider has reported what an aborted call used. */
export function usageLearnt(d: Deciding, { effect, attempt, usage }: FactOf<"usage-learnt">): string | null {
  const call = d.state.aborted.get(effect);
  if (call === undefined || call.attempt !== attempt) return "no such call was aborted";
  d.accept();
  if (call.run === null) return null;
  const { number: run, tokens, cost } = call.run;
  const tokensMore = usage.input + usage.output - call.tokens;
  const costMore = modelCost(call.price, usage) - call.cost;
  d.emit({ type: "run-settled", run, tokens: tokens + tokensMore, cost: cost + costMore });
  return null;
}

export function modelReplied(d: Deciding, input: FactOf<"model-replied">): string | null {
  const call = acceptResult(d, input);
  if (call === null) return NOT_OPEN;
  const { effect, agent } = call;
  const parts = replyPartsOf(d.texts[0]);
  const text = replyText(parts);
  const fail = (reason: string): null => {
    d.later({ do: "fail-turn", agent: agent.number, end: { status: "error", reason } });
    return null;
  };
  if (input.stop === "refused") return fail("refused");
  if (effect.compaction) {
    if (text.trim() === "") return fail("context-overflow");
    d.emit({ type: "context-compacted", agent: agent.number, size: input.size });
    issueCall(d, agent, false);
    return null;
  }
  const silent = messageNoMessageIs(text);
  const called = parts.some((part) => part.type === "tool-call");
  if (agent.kind === "foreground" && !silent) sendToUser(d, agent, text, called ? true : undefined);
  for (const [index, part] of parts.entries())
    if (part.type === "tool-call") answerCall(d, agent, part, input.facts?.[index] ?? {});
  const tagged = agent.definition.reporting === "tag" && tagExtract(text, "response") !== null;
  if (called) d.later({ do: "continue-turn", agent: agent.number });
  else finishTurn(d, agent, { silent, tagged });
  return null;
}

/** Sends a foreground agent's reply to its user: as it is, or only its `say` blocks (rule A7). */
function sendToUser(d: Deciding, agent: AgentState, text: string, commentary: true | undefined): void {
  const send = (say?: number): void =>
    d.emit({
      type: "channel-sent",
      agent: agent.number,
      n: d.number(),
      ...(say === undefined ? {} : { say }),
      commentary,
    });
  if (agent.definition.say) for (const [index] of sayBlocks(text).entries()) send(index);
  else if (messageSaid(text).trim() !== "") send();
}

/**
 * Makes a context smaller that was too long: summarises earlier turns, once in a turn; if that was not enough, cuts
 * long tool results. False if nothing is left to cut.
 */
function makeRoom(d: Deciding, { agent, turn, effect: { compaction } }: OpenCall): boolean {
  const summarise = !compaction && !turn.compacted && agent.turns > 1;
  const keep = summarise ? undefined : RESULT_LENGTHS.find((length) => length < agent.longestResult);
  if (!summarise && keep === undefined) return false;
  d.emit({ type: "turn-model-dropped", agent: agent.number });
  if (!compaction) learnWindow(d, agent);
  if (keep !== undefined) d.emit({ type: "results-shortened", agent: agent.number, keep });
  issueCall(d, agent, summarise || compaction);
  return true;
}

/** A context that was too long shows how large the model's window is. Later contexts are made smaller in time. */
function learnWindow(d: Deciding, agent: AgentState): void {
  const window = Math.max(1, contextTokens(agent));
  if (agent.definition.window !== null && agent.definition.window <= window) return;
  d.emit({ type: "window-learnt", agent: agent.number, window });
}

/** The wait before the next attempt, at least as long as the provider asked for. Null: no further attempt. */
function retryWait(d: Deciding, failures: number, asked: number): number | null {
  const own = RETRY_WAITS[failures - 1];
  if (own === undefined || asked > RETRY_WAIT_MOST) return null;
  const wait = Math.max(own, asked);
  return wait + Math.floor(wait * RETRY_JITTER * d.fraction());
}

export function modelFailed(d: Deciding, input: FactOf<"model-failed">): string | null {
  const call = acceptResult(d, input);
  if (call === null) return NOT_OPEN;
  const { effect, agent, turn } = call;
  // A run that has reported is not kept open by retries of its closing call (rule B7).
  const closing = onlyClosingCallLeft(agent);
  if (!closing && input.code === "context-overflow" && makeRoom(d, call)) return null;
  const retryable = input.retryable || (turn.announcement !== null && input.code === "provider-error");
  const wait = retryable && !closing ? retryWait(d, effect.failures, input.retryAfterMs ?? 0) : null;
  if (wait !== null) {
    d.emit({ type: "model-retry-set", effect: input.effect, at: d.at + wait });
    return null;
  }
  const [error] = d.texts;
  const why = typeof error === "string" ? { error } : {};
  d.later({ do: "fail-turn", agent: agent.number, end: { status: "error", reason: input.code, ...why } });
  return null;
}
