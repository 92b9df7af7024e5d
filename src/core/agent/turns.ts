/**
 * Turns: when an idle agent starts one, how it goes on after each reply, and how it ends.
 *
 * Between turns (`nextTurn`), the first row that matches decides:
 *
 * | the agent                                                 | what happens                                    |
 * |-----------------------------------------------------------|-------------------------------------------------|
 * | has a user message or a steer in its inbox                | a turn with these, and silent messages          |
 * | has another message that is not silent                    | a turn with all messages                        |
 * | has an announcement that waits                            | a turn with it, and silent messages             |
 * | is a root agent                                           | it waits; silent messages join its context      |
 * | has children that run, or results it was not told of      | its run is `waiting` or `needs_input`           |
 * | has not reported, and was not nudged                      | a turn with the nudge, once per run             |
 * | else                                                      | its run ends (reports/outcome.ts)               |
 *
 * Within a turn (`continueTurn` after calls were answered, `finishTurn` after a reply without calls):
 *
 * | open calls          | the reply, the agent                                | what happens                                      |
 * |---------------------|-----------------------------------------------------|---------------------------------------------------|
 * | some                |                                                     | the turn waits                                    |
 * | final reports only  | nothing that the child has not seen                 | the run ends with the final report, in this step  |
 * | final reports only  | children, messages or a failed call                 | they are answered as ordinary reports; next call  |
 * | none, had calls     | answers the report nudge with a report, no steer    | the turn ends                                     |
 * | none, had calls     | else                                                | steers and silent messages join; next model call  |
 * | none, had no calls  | a steer came                                        | it joins; next model call                         |
 * | none, had no calls  | a message for the user was not presented            | nudged once; then it is sent as it is             |
 * | none, had no calls  | no report, no nudge, nothing of its own is open     | the report nudge; next model call                 |
 * | none, had no calls  | else                                                | the turn ends                                     |
 */

import { completeBatch } from "../announcements/batches.ts";
import type { FactOf, TextIndex } from "../event.ts";
import { inboxTake, joinMessages } from "../inbox/inbox.ts";
import { finalCalls, whyNotFinal } from "../reports/final-report.ts";
import { reportedBy, reportOutcome, reportWanted } from "../reports/outcome.ts";
import { reportAnswer } from "../delegation/send-agent-message.ts";
import { eraseIfAsked } from "../runs/erasure.ts";
import { refreshRunState, setRunState } from "../runs/run-state.ts";
import type { AgentState, Turn } from "../state.ts";
import type { Deciding, RunEnd } from "../step.ts";
import type { AgentNumber } from "../values/ids.ts";
import { answer } from "./answer.ts";
import { abortTurn, callModel } from "./call-model.ts";
import { agentHasOpenWork, inboxWaits } from "./open-work.ts";

/** What an idle agent does next. */
export function nextTurn(d: Deciding, number: AgentNumber): void {
  const agent = d.state.agents.get(number);
  if (agent === undefined || agent.turn !== null) return;
  const run = d.state.runs.get(number);
  if (run !== undefined && run.state === "queued") return;
  const addressed = agent.inbox.some(({ kind }) => kind === "user" || kind === "steer");
  if (addressed || inboxWaits(agent)) {
    const matches = ({ kind }: { readonly kind: string }): boolean => !addressed || kind === "user" || kind === "steer";
    return startTurn(d, agent, { take: inboxTake(agent, matches, true) });
  }
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
  const { number, pending } = agent;
  setRunState(d, number, "running");
  const placed = announces === true ? (pending?.runs ?? []) : undefined;
  const announcement = announces === true ? pending?.key : undefined;
  const runs = placed?.map((run) => d.state.runs.get(run)) ?? [];
  d.emit({ type: "turn-started", agent: number, take, announcement, placed });
  for (const run of runs) eraseIfAsked(d, run);
  if (nudge === true) d.emit({ type: "nudge-given", agent: number, about: "report" });
  if (agent.turnsUnprompted > d.settings.limits.agentTurns)
    return d.later({ do: "fail-turn", agent: number, end: { status: "error", reason: "turn-limit" } });
  callModel(d, agent);
}

/** Calls of the newest reply were answered: when none is open any more, the turn goes on. */
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

/** The reply called no tool: the turn is over, unless something was said into it or was forgotten. */
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

/** Ends a turn that has nothing more to do. */
export function endTurn(d: Deciding, number: AgentNumber): void {
  const agent = d.state.agents.get(number);
  if (agent === undefined || agent.turn === null) return;
  const { turn } = agent;
  completeTurn(d, agent, turn);
  afterTurn(d, agent, turn.number);
}

/** Messages for the user that the agent did not present are sent as they are. */
function relayAll(d: Deciding, { number, turn }: AgentState): void {
  for (const relay of turn?.relays ?? []) d.emit({ type: "channel-sent", agent: number, n: d.number(), relay });
}

/** The turn ended well. A report of it answers its posts; without one the reply does. */
function completeTurn(
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

/** The batch of the turn can be complete now; then the agent is idle. */
function afterTurn(d: Deciding, agent: AgentState, turn: number): void {
  for (const batch of Array.from(agent.batches.values())) if (batch.turn === turn) completeBatch(d, agent, batch.key);
  d.later({ do: "next-turn", agent: agent.number });
}

/** The turn cannot go on: a child's run ends, a root agent's turn ends as failed. */
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
