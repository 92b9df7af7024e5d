/**
 * The end of a run: its outcome, and how that reaches the parent, in one step.
 *
 * Invariants:
 *  1. The first end wins.
 *  2. In the step that ends a run, its outcome enters the parent's inbox or open call, or becomes undeliverable.
 *  3. No run below an ended run continues.
 */

import { abortTurn } from "../agent/call-model.ts";
import { announce, completeBatch } from "../announcements/batches.ts";
import { onlyClosingCallLeft } from "../reports/final-report.ts";
import { reportedBy } from "../reports/outcome.ts";
import type { AgentState, Run } from "../state.ts";
import type { Deciding, RunEnd } from "../step.ts";
import type { PostId, RunNumber } from "../values/ids.ts";
import { eraseIfAsked } from "./erasure.ts";

export function endRun(d: Deciding, number: RunNumber, asked: RunEnd): void {
  const run = d.state.runs.get(number);
  if (run === undefined || run.outcome !== null) return;
  const child = d.state.agents.get(number);
  const parent = d.state.agents.get(run.parent);
  // A failure of the closing call does not undo a report; a cancellation does (rule B7).
  const failed = asked.status === "error" || asked.status === "timeout";
  const closed = child !== undefined && failed && onlyClosingCallLeft(child);
  const end: RunEnd = closed ? { status: "ok" } : asked;
  if (child !== undefined) stopChild(d, child);
  if (child !== undefined && closed) answerPosts(d, child);
  const reported = child === undefined ? null : reportedBy(child, run, child.tagged);
  const { kind, result, error } = d.contexts.endTexts(number, end, reported);
  d.emit({
    type: "run-ended",
    run: number,
    status: end.status,
    reason: end.reason,
    error: error === null ? undefined : d.text(error),
    report: kind,
    result: d.text(result),
    final: end.final,
    closed: closed ? (asked.reason ?? asked.status) : undefined,
    posts: unansweredPosts(child),
  });
  if (parent !== undefined) d.later({ do: "start-queued", agent: parent.number });
  if (run.unannounced) return returnToCaller(d, run);
  if (parent === undefined) return d.emit({ type: "run-undeliverable", run: number, reason: "parent-closed" });
  deliver(d, parent, run, end.silent === true);
}

/** The report of the turn answers its posts. Posts that still wait in the inbox get no answer. */
function answerPosts(d: Deciding, { number, turn }: AgentState): void {
  if (turn === null || !turn.reported || turn.posts.length === 0) return;
  const answer = d.text(d.contexts.reportText(number, false));
  d.emit({ type: "turn-ended", agent: number, outcome: "done", posts: turn.posts, answer });
}

/** Posts that an agent leaves without an answer when it closes. */
export function unansweredPosts(agent: AgentState | undefined): readonly PostId[] | undefined {
  if (agent === undefined) return undefined;
  const waiting = agent.inbox.flatMap(({ post }) => post ?? []);
  const posts = [...(agent.turn?.posts ?? []), ...waiting];
  return posts.length === 0 ? undefined : posts;
}

/** Aborts the child's open calls, and ends the runs that it started. */
function stopChild(d: Deciding, child: AgentState): void {
  abortTurn(d, child);
  for (const run of [...child.live, ...child.queue])
    d.later({ do: "end-run", run, end: { status: "cancelled", reason: "parent-ended" } });
  markUndeliverable(d, child);
}

/** Marks ended runs that were not announced to the agent before it closes. */
export function markUndeliverable(d: Deciding, agent: AgentState): void {
  const runs = [...(agent.pending?.runs ?? []), ...[...agent.batches.values()].flatMap((batch) => batch.ended)];
  for (const run of runs) d.emit({ type: "run-undeliverable", run, reason: "parent-closed" });
}

/** The caller reads the outcome from the record. The parent does not see it, but may have waited for the end. */
function returnToCaller(d: Deciding, run: Run): void {
  d.emit({ type: "run-returned", run: run.number });
  eraseIfAsked(d, run);
  d.later({ do: "next-turn", agent: run.parent });
}

/** Delivers the outcome to the parent, in exactly one way. */
function deliver(d: Deciding, parent: AgentState, run: Run, silent: boolean): void {
  const { number, call, batch } = run;
  if (run.mode === "awaited" && call !== null) {
    if (parent.turn?.calls.has(call) !== true)
      return d.emit({ type: "run-undeliverable", run: number, reason: "turn-ended" });
    d.emit({ type: "tool-answered", agent: parent.number, call, run: number, size: 0 });
    eraseIfAsked(d, run);
    return d.later({ do: "continue-turn", agent: parent.number });
  }
  if (silent || (run.announceEach && run.outcome?.report === "tool")) {
    const message = {
      n: d.number(),
      from: number,
      to: parent.number,
      run: number,
      kind: "system",
      silent: true,
    } as const;
    d.emit({ type: "message-sent", ...message, size: 0 });
    eraseIfAsked(d, run);
    if (batch !== null) completeBatch(d, parent, batch);
  } else if (run.announceEach) {
    announce(d, parent, [number], []);
  } else if (batch !== null) {
    completeBatch(d, parent, batch);
  }
  d.later({ do: "next-turn", agent: parent.number });
}
