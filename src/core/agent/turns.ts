/**
 * Turns: when an agent starts one, how it continues after each reply, and how it ends.
 * In each table the first row that matches decides.
 *
 * Between turns (`nextTurn`):
 *
 * | the agent                                       | what happens                                         |
 * |-------------------------------------------------|------------------------------------------------------|
 * | has a user message or a steer in its inbox      | a turn with these, and silent messages before others |
 * | has another message that is not silent          | a turn with all messages                             |
 * | has a pending announcement                      | a turn with it and the silent messages               |
 * | is a root agent                                 | it stays idle; silent messages join its context      |
 * | has children that are open or not announced yet | its run is `waiting` or `needs_input`                |
 * | has not reported and was not nudged             | a turn with the report nudge, once per run           |
 * | else                                            | its run ends (reports/outcome.ts)                    |
 *
 * A turn fails at once if too many in a row had no user message, steer or announcement (limit `agentTurns`).
 *
 * When calls of the newest reply were answered (`continueTurn`). The messages that join are steers, silent messages,
 * and messages for the user from runs that the turn waited for:
 *
 * | open calls             | condition                                   | what happens                        |
 * |------------------------|---------------------------------------------|-------------------------------------|
 * | not only final reports |                                             | the turn waits                      |
 * | final reports only     | nothing is unseen (reports/final-report.ts) | the run ends with the final report  |
 * | final reports only     | else                                        | they become ordinary; as for `none` |
 * | none                   | it answers the report nudge; no steer       | messages join; the turn ends        |
 * | none                   | else                                        | messages join; the next model call  |
 *
 * When a reply calls no tool (`finishTurn`):
 *
 * | condition                                                 | what happens                                 |
 * |-----------------------------------------------------------|----------------------------------------------|
 * | a steer is in the inbox                                   | it joins; the next model call                |
 * | a message for the user was not presented: the first time  | the nudge to present it; the next model call |
 * | a message for the user was not presented: after the nudge | it is sent as it is; then as below           |
 * | no report, no report nudge yet, and no open work          | the report nudge; the next model call        |
 * | else                                                      | the turn ends; then as between turns         |
 */

import { completeBatch } from "../announcements/batches.ts";
import type { FactOf, TextIndex } from "../event.ts";
import { inboxTake, joinMessages } from "../inbox/inbox.ts";
import { finalCalls, whyNotFinal } from "../reports/final-report.ts";
import { reportedBy, reportOutcome, reportWanted } from "../reports/outcome.ts";
import { reportAnswer } from "../delegation/send-agent-message.ts";
import { eraseIfAsked } from "../runs/erasure.ts";
import { refreshRunState, setRunState } from "../runs/run-state.ts";
import type { AgentState, InboxMessage, Turn } from "../state.ts";
import type { Deciding, RunEnd } from "../step.ts";
import type { AgentNumber } from "../values/ids.ts";
import { answer } from "./answer.ts";
import { abortTurn, callModel } from "./call-model.ts";
import { agentHasOpenWork, inboxWaits } from "./open-work.ts";

/** What an idle agent does next. */
export function nextTurn(d: Deciding, number: AgentNumber): void {
  const agent = d.state.agents.get(number);
  if (agent?.definition.runner !== undefined) return d.later({ do: "pass-messages", agent: number });
  if (agent === undefined || agent.turn !== null) return;
  const run = d.state.runs.get(number);
  if (run !== undefined && run.state === "queued") return;
  const addresses = ({ kind }: InboxMessage): boolean => kind === "user" || kind === "steer";
  const addressed = agent.inbox.some(addresses);
  if (addressed || inboxWaits(agent))
    return startTurn(d, agent, { take: inboxTake(agent, addressed ? addresses : () => true, true) });
  if (agent.pending !== null) return startTurn(d, agent, { take: agent.inbox.map(({ key }) => key), announces: true });
  // A child keeps silent messages for its next turn, so that a nudge is a message of its own in its context.
  if (run === undefined) return void joinMessages(d, agent, { silent: true });
  if (agentHasOpenWork(agent)) return refreshRunState(d, number);
  if (reportWanted(agent, run, agent.tagged)) return startTurn(d, agent, { take: [], nudge: true });
  d.later({ do: "end-run", run: number, end: reportOutcome(agent, run) });
}

interface TurnStart extends Pick<FactOf<"turn-started">, "take"> {
  readonly announces?: true;
  readonly nudge?: true;
}

function startTurn(d: Deciding, agent: AgentState, { take, announces, nudge }: TurnStart): void {
  const { number } = agent;
  const pending = announces === true ? agent.pending : null;
  const runs = (pending?.runs ?? []).map((run) => d.state.runs.get(run));
  setRunState(d, number, "running");
  d.emit({ type: "turn-started", agent: number, take, announcement: pending?.key, placed: pending?.runs });
  for (const run of runs) eraseIfAsked(d, run);
  if (nudge === true) d.emit({ type: "nudge-given", agent: number, about: "report" });
  if (agent.turnsUnprompted > d.settings.limits.agentTurns)
    return d.later({ do: "fail-turn", agent: number, end: { status: "error", reason: "turn-limit" } });
  callModel(d, agent);
}

/** Some calls of the newest reply were answered. */
export function continueTurn(d: Deciding, number: AgentNumber): void {
  const agent = d.state.agents.get(number);
  if (agent === undefined || agent.turn === null || agent.turn.model !== null) return;
  refreshRunState(d, number);
  const { turn } = agent;
  const finals = finalCalls(turn);
  if (turn.calls.size > finals.length) return;
  if (finals.length > 0 && endedByFinal(d, agent, turn)) return;
  const run = d.state.runs.get(number);
  const steered = agent.inbox.some(({ kind }) => kind === "steer");
  joinMessages(d, agent, { silent: true, steers: true, awaited: true });
  const answersNudge = turn.nudge === "report" && run !== undefined && reportedBy(agent, run, false) === "tool";
  if (answersNudge && !steered) return endTurn(d, number);
  callModel(d, agent);
}

/** Answers the final reports of the newest reply. True if they ended the run. */
function endedByFinal(d: Deciding, agent: AgentState, turn: Turn): boolean {
  const postponed = whyNotFinal(agent, turn);
  for (const call of finalCalls(turn)) answer(d, agent, call.id, reportAnswer(d, agent, postponed ?? "final"));
  if (postponed !== null) return false;
  completeTurn(d, agent, turn, { final: true });
  d.later({ do: "end-run", run: agent.number, end: { status: "ok", final: true } });
  return true;
}

/** The reply called no tool. */
export function finishTurn(
  d: Deciding,
  agent: AgentState,
  reply: { readonly silent: boolean; readonly tagged: boolean },
): void {
  const { turn, number } = agent;
  if (turn === null) return;
  if (joinMessages(d, agent, { steers: true }) > 0) return callModel(d, agent);
  const unpresented = turn.relays.length > 0 && !turn.sent;
  const run = d.state.runs.get(number);
  const unreported = run !== undefined && !agentHasOpenWork(agent) && reportWanted(agent, run, reply.tagged);
  if (unpresented && turn.nudgedUser) relayAll(d, agent);
  const about = unpresented && !turn.nudgedUser ? "user-message" : unreported ? "report" : null;
  if (about !== null) {
    d.emit({ type: "nudge-given", agent: number, about });
    return callModel(d, agent);
  }
  completeTurn(d, agent, turn, reply);
  afterTurn(d, agent, turn.number);
}

export function endTurn(d: Deciding, number: AgentNumber): void {
  const agent = d.state.agents.get(number);
  if (agent === undefined || agent.turn === null) return;
  const { turn } = agent;
  completeTurn(d, agent, turn);
  afterTurn(d, agent, turn.number);
}

function relayAll(d: Deciding, { number, turn }: AgentState): void {
  for (const relay of turn?.relays ?? []) d.emit({ type: "channel-sent", agent: number, n: d.number(), relay });
}

/** The turn ended well. Its report answers its posts; without a report the reply does. */
export function completeTurn(
  d: Deciding,
  { number }: AgentState,
  { posts, reported }: Turn,
  { silent = false, tagged = false, final = false } = {},
): void {
  const answered = posts.length > 0 && (reported || tagged);
  d.emit({
    type: "turn-ended",
    agent: number,
    outcome: "done",
    silent: silent ? true : undefined,
    tagged: tagged ? true : undefined,
    posts: posts.length > 0 ? posts : undefined,
    answer: answered ? d.text(d.contexts.reportText(number, final)) : undefined,
  });
}

/** Announces the batch of the turn if it is complete now. Then the agent is idle. */
function afterTurn(d: Deciding, agent: AgentState, turn: number): void {
  for (const batch of Array.from(agent.batches.values())) if (batch.turn === turn) completeBatch(d, agent, batch.key);
  d.later({ do: "next-turn", agent: agent.number });
}

/** The turn cannot continue: the run of a child ends; the turn of a root agent ends as failed. */
export function failTurn(d: Deciding, number: AgentNumber, end: RunEnd): void {
  const agent = d.state.agents.get(number);
  if (agent === undefined || agent.turn === null) return;
  if (d.state.runs.has(number)) return d.later({ do: "end-run", run: number, end });
  const { turn } = agent;
  abortTurn(d, agent);
  for (const { run } of turn.calls.values())
    if (run !== null) d.later({ do: "end-run", run, end: { status: "cancelled", reason: "parent-ended" } });
  if (turn.relays.length > 0 && !turn.sent) relayAll(d, agent);
  if (turn.announcement !== null) d.emit({ type: "announcement-blocked", agent: number, key: turn.announcement });
  const error: TextIndex | undefined = end.error === undefined ? undefined : d.text(end.error);
  d.emit({
    type: "turn-ended",
    agent: number,
    outcome: end.status === "cancelled" ? "cancelled" : "failed",
    reason: end.reason,
    error,
    posts: turn.posts.length > 0 ? turn.posts : undefined,
  });
  afterTurn(d, agent, turn.number);
}
