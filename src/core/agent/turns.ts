/**
 * Turns: when an idle agent starts one, how it goes from iteration to iteration, and how it ends.
 *
 * Invariants:
 *  1. User messages and steers go before messages of other agents, and those before announcements.
 *  2. A silent message joins the context and causes no inference.
 *  3. A child's run ends only when its turn has ended, nothing of its own is open, and it has reported or was asked to once; or at once
 *     with a final report.
 */

import { completeBatch } from "../announcements/batches.ts";
import type { Deciding, RunEnd } from "../deciding.ts";
import type { ReportPlace, TextIndex } from "../event.ts";
import type { AgentNumber, PostId, StepKey } from "../ids.ts";
import { finalCalls, finalPostponed } from "../reports/final-report.ts";
import { reportKindOf, reportOutcome, reportWanted } from "../reports/outcome.ts";
import { reportAnswer } from "../reports/send-agent-message.ts";
import { eraseIfAsked } from "../runs/erasure.ts";
import { restate, runIs } from "../runs/run-state.ts";
import type { AgentState, InboxMessage, Turn } from "../state.ts";
import { abortTurn } from "./abort-turn.ts";
import { answer } from "./answer.ts";
import { callModel } from "./call-model.ts";
import { agentOccupied, inboxWaits } from "./occupied.ts";

/** An idle agent takes what waits for it, or ends its run, or waits. */
export function settle(d: Deciding, number: AgentNumber): void {
  const agent = d.state.agents.get(number);
  if (agent === undefined || agent.turn !== null) return;
  const run = d.state.runs.get(number);
  if (run !== undefined && run.state === "queued") return;
  const next = nextTake(agent);
  if (next !== null) return startTurn(d, agent, next);
  // A child keeps silent messages for its next turn, so that a nudge is a message of its own in its context.
  if (run === undefined) return void joinMessages(d, agent, { silent: true, steers: false, awaited: false });
  if (agentOccupied(agent)) return restate(d, number);
  if (reportWanted(agent, run, agent.tagged)) {
    startTurn(d, agent, { take: [], announcement: null, nudge: true });
    return;
  }
  d.later({ do: "end-run", run: number, end: reportOutcome(agent, run) });
}

interface Take {
  readonly take: readonly StepKey[];
  readonly announcement: StepKey | null;
  readonly nudge: boolean;
}

/** What the next turn of an idle agent is about, or null if there is nothing. */
function nextTake(agent: AgentState): Take | null {
  const asked = agent.inbox.some((message) => message.kind === "user" || message.kind === "steer");
  if (asked || inboxWaits(agent)) {
    const take = inboxTake(agent, (message) => !asked || message.kind === "user" || message.kind === "steer", true);
    return { take, announcement: null, nudge: false };
  }
  if (agent.pending === null) return null;
  return { take: agent.inbox.map((message) => message.key), announcement: agent.pending.key, nudge: false };
}

function startTurn(d: Deciding, agent: AgentState, next: Take): void {
  runIs(d, agent.number, "running");
  const told = next.announcement === null ? [] : (agent.pending?.runs ?? []).map((number) => d.state.runs.get(number));
  d.emit({
    type: "turn-started",
    agent: agent.number,
    take: next.take,
    announcement: next.announcement ?? undefined,
    placed: next.announcement === null ? undefined : (agent.pending?.runs ?? []),
  });
  for (const ended of told) eraseIfAsked(d, ended);
  if (next.nudge) d.emit({ type: "nudge-given", agent: agent.number, about: "report" });
  if (agent.turnsUnprompted > d.settings.limits.agentTurns) {
    d.later({ do: "fail-turn", agent: agent.number, end: { status: "error", reason: "turn-limit" } });
    return;
  }
  callModel(d, agent);
}

/** The messages that are wanted, and silent ones that overtake none: a sender's messages stay in the order in which it sent them. */
function inboxTake(agent: AgentState, wanted: (message: InboxMessage) => boolean, silent: boolean): StepKey[] {
  const take: StepKey[] = [];
  let left = false;
  for (const message of agent.inbox) {
    if (wanted(message) || (silent && message.silent && !left)) take.push(message.key);
    else left = true;
  }
  return take;
}

function joinMessages(
  d: Deciding,
  agent: AgentState,
  which: { readonly silent: boolean; readonly steers: boolean; readonly awaited: boolean },
): number {
  const awaited = which.awaited ? messagesOfAwaited(agent) : NONE;
  const wanted = (message: InboxMessage): boolean =>
    (which.steers && message.kind === "steer") || awaited.has(message.key);
  const take = inboxTake(agent, wanted, which.silent);
  if (take.length > 0) d.emit({ type: "messages-joined", agent: agent.number, take });
  return take.length;
}

const NONE: ReadonlySet<StepKey> = new Set();

/** Words for the user from runs that the turn waited for, and what the same agents sent before: a sender's messages stay in order. */
function messagesOfAwaited(agent: AgentState): ReadonlySet<StepKey> {
  if (!agent.inbox.some((message) => message.joins)) return NONE;
  const keys = new Set<StepKey>();
  const senders = new Set<AgentNumber | null>();
  for (const { key, from, joins } of agent.inbox.toReversed()) {
    if (joins) senders.add(from);
    if (senders.has(from)) keys.add(key);
  }
  return keys;
}

/** Every call of the newest reply may be answered: then the next model call, unless the report was all that was asked for. */
export function iterate(d: Deciding, number: AgentNumber): void {
  const agent = d.state.agents.get(number);
  if (agent === undefined || agent.turn === null || agent.turn.model !== null) return;
  restate(d, number);
  const finals = finalCalls(agent.turn);
  if (agent.turn.calls.size > finals.length) return;
  if (finals.length > 0 && endedByFinal(d, agent, agent.turn)) return;
  const run = d.state.runs.get(number);
  const spokenTo = inboxTake(agent, (message) => message.kind === "steer", false).length > 0;
  joinMessages(d, agent, { silent: true, steers: true, awaited: true });
  if (!spokenTo && agent.turn.nudge === "report" && run !== undefined && reportKindOf(agent, run, false) === "tool") {
    return endTurn(d, number);
  }
  callModel(d, agent);
}

/** Answers the final reports of the newest reply. True if they ended the run. */
function endedByFinal(d: Deciding, agent: AgentState, turn: Turn): boolean {
  const postponed = finalPostponed(agent, turn);
  const finals = finalCalls(turn);
  for (const call of finals) answer(d, agent, call.id, reportAnswer(d, agent, postponed ?? "final"));
  if (postponed !== null) return false;
  turnEnds(d, agent.number, "done", { posts: turn.posts, answer: reportPlace(turn, finals.at(-1)?.id) });
  d.later({ do: "end-run", run: agent.number, end: { status: "ok", final: true } });
  return true;
}

/** Where the report stands that answers the posts of the turn; undefined if the turn has not reported by tool. */
function reportPlace({ report }: Turn, final?: string): ReportPlace | undefined {
  if (report === null) return undefined;
  return final === undefined ? report : { seq: report.seq, call: final };
}

/** A turn that was about a nudge ends with its answer, or without one. */
export function endTurn(d: Deciding, number: AgentNumber): void {
  const agent = d.state.agents.get(number);
  if (agent === undefined || agent.turn === null) return;
  const { turn } = agent;
  turnEnds(d, number, "done", { posts: turn.posts, answer: reportPlace(turn) });
  afterTurn(d, agent, turn.number);
}

/** The reply asked for no tool: the turn is over, unless somebody spoke into it or something was forgotten. */
export function finishTurn(
  d: Deciding,
  agent: AgentState,
  reply: { readonly silent: boolean; readonly tagged: boolean },
): void {
  const turn = agent.turn;
  if (turn === null) return;
  if (joinMessages(d, agent, { silent: false, steers: true, awaited: false }) > 0) return callModel(d, agent);
  if (turn.relays.length > 0 && !turn.sent) {
    if (!turn.nudgedUser) {
      d.emit({ type: "nudge-given", agent: agent.number, about: "user-message" });
      return callModel(d, agent);
    }
    relayAll(d, agent);
  }
  const run = d.state.runs.get(agent.number);
  if (run !== undefined && !agentOccupied(agent) && reportWanted(agent, run, reply.tagged)) {
    d.emit({ type: "nudge-given", agent: agent.number, about: "report" });
    return callModel(d, agent);
  }
  const { silent, tagged } = reply;
  turnEnds(d, agent.number, "done", { posts: turn.posts, silent, tagged, answer: reportPlace(turn) });
  afterTurn(d, agent, turn.number);
}

/** Messages for the user that the agent did not present are sent as they are. */
function relayAll(d: Deciding, agent: AgentState): void {
  for (const relay of agent.turn?.relays ?? []) {
    d.emit({ type: "channel-sent", agent: agent.number, n: d.number(), relay });
  }
}

function turnEnds(
  d: Deciding,
  agent: AgentNumber,
  outcome: "done" | "failed" | "cancelled",
  how: {
    readonly posts: readonly PostId[];
    readonly reason?: string | undefined;
    readonly error?: TextIndex | undefined;
    readonly silent?: boolean;
    readonly tagged?: boolean;
    readonly answer?: ReportPlace | undefined;
  },
): void {
  d.emit({
    type: "turn-ended",
    agent,
    outcome,
    reason: how.reason,
    error: how.error,
    silent: how.silent === true ? true : undefined,
    tagged: how.tagged === true ? true : undefined,
    posts: how.posts.length > 0 ? how.posts : undefined,
    answer: how.posts.length > 0 ? how.answer : undefined,
  });
}

/** The batch of the turn can be complete now; then the agent is idle. */
function afterTurn(d: Deciding, agent: AgentState, turn: number): void {
  const batches = Array.from(agent.batches.values()).filter((batch) => batch.turn === turn);
  for (const batch of batches) completeBatch(d, agent, batch.key);
  d.later({ do: "settle", agent: agent.number });
}

/** The turn cannot go on: a child's run ends, any other agent's turn ends as failed. */
export function failTurn(d: Deciding, number: AgentNumber, end: RunEnd): void {
  const agent = d.state.agents.get(number);
  if (agent === undefined || agent.turn === null) return;
  if (d.state.runs.has(number)) return d.later({ do: "end-run", run: number, end });
  const turn = agent.turn;
  abortTurn(d, agent);
  for (const call of turn.calls.values()) {
    if (call.run !== null)
      d.later({ do: "end-run", run: call.run, end: { status: "cancelled", reason: "parent-ended" } });
  }
  if (turn.relays.length > 0 && !turn.sent) relayAll(d, agent);
  if (turn.announcement !== null) d.emit({ type: "announcement-blocked", agent: number, key: turn.announcement });
  const { posts } = turn;
  const error = end.error === undefined ? undefined : d.text(end.error);
  turnEnds(d, number, end.status === "cancelled" ? "cancelled" : "failed", { posts, reason: end.reason, error });
  afterTurn(d, agent, turn.number);
}
