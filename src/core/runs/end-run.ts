/**
 * The end of a run: its outcome, and the way of that outcome to the parent, in one step.
 *
 * Invariants:
 *  1. The first end wins; a later one finds the run ended.
 *  2. The outcome enters the parent's inbox, its open call, or the record as undeliverable, in the step that ends the run.
 *  3. Nothing below an ended run goes on.
 */

import { abortTurn } from "../agent/abort-turn.ts";
import { announce, completeBatch } from "../announcements/batches.ts";
import type { Deciding, RunEnd } from "../deciding.ts";
import type { PostId, RunNumber } from "../ids.ts";
import { closingCall } from "../reports/final-report.ts";
import { reportKindOf } from "../reports/outcome.ts";
import type { AgentState, Run } from "../state.ts";
import { eraseIfAsked } from "./erasure.ts";

export function endRun(d: Deciding, number: RunNumber, end: RunEnd): void {
  const run = d.state.runs.get(number);
  if (run === undefined || run.outcome !== null) return;
  const child = d.state.agents.get(number);
  const parent = d.state.agents.get(run.parent);
  const closed = child !== undefined && closingFailed(end) && closingCall(child);
  if (child !== undefined) leaveBehind(d, child);
  if (child !== undefined && closed) answerPosts(d, child);
  d.emit({
    type: "run-ended",
    run: number,
    status: closed ? "ok" : end.status,
    reason: closed ? undefined : end.reason,
    error: end.error === undefined ? undefined : d.text(end.error),
    report: child === undefined ? "missing" : reportKindOf(child, run, child.tagged),
    final: end.final,
    closed: closed ? (end.reason ?? end.status) : undefined,
    posts: postsLeft(child),
  });
  if (parent === undefined) return d.emit({ type: "run-undeliverable", run: number, reason: "parent-closed" });
  d.later({ do: "fill", agent: parent.number });
  deliver(d, parent, run, end.quiet === true);
}

/** Ends that do not undo a report when they come in its closing call; a cancellation stays one (rule B7). */
function closingFailed({ status }: RunEnd): boolean {
  return status === "error" || status === "timeout";
}

/** The turn has reported: its report answers the posts that it took. Those that still wait in the inbox get no answer. */
function answerPosts(d: Deciding, { number, turn }: AgentState): void {
  if (turn === null || turn.report === null || turn.posts.length === 0) return;
  d.emit({ type: "turn-ended", agent: number, outcome: "done", posts: turn.posts, answer: turn.report });
}

/** Posts that wait for an answer of an agent that goes. */
export function postsLeft(agent: AgentState | undefined): readonly PostId[] | undefined {
  if (agent === undefined) return undefined;
  const posts = agent.turn === null ? [] : agent.turn.posts.slice();
  for (const { post } of agent.inbox) if (post !== null) posts.push(post);
  return posts.length === 0 ? undefined : posts;
}

/** Aborts what the child has under way and ends what it has started. */
function leaveBehind(d: Deciding, child: AgentState): void {
  abortTurn(d, child);
  for (const run of [...child.live, ...child.queue]) {
    d.later({ do: "end-run", run, end: { status: "cancelled", reason: "parent-ended" } });
  }
  untold(d, child);
}

/** Ended runs whose parent goes before it was told of them. */
export function untold(d: Deciding, agent: AgentState): void {
  const runs = [...(agent.pending?.runs ?? []), ...[...agent.batches.values()].flatMap((batch) => batch.ended)];
  for (const run of runs) d.emit({ type: "run-undeliverable", run, reason: "parent-closed" });
}

/** One road for each outcome. */
function deliver(d: Deciding, parent: AgentState, run: Run, quiet: boolean): void {
  if (run.mode === "awaited" && run.call !== null) {
    if (parent.turn?.calls.has(run.call) !== true) {
      return d.emit({ type: "run-undeliverable", run: run.number, reason: "turn-ended" });
    }
    d.emit({ type: "tool-answered", agent: parent.number, call: run.call, run: run.number, size: 0 });
    eraseIfAsked(d, run);
    return d.later({ do: "iterate", agent: parent.number });
  }
  if (quiet || run.announceEach) {
    if (quiet || run.outcome?.report === "tool") {
      d.emit({
        type: "message-sent",
        n: d.number(),
        from: run.number,
        to: parent.number,
        run: run.number,
        kind: "system",
        silent: true,
        size: 0,
      });
      eraseIfAsked(d, run);
      if (run.batch !== null) completeBatch(d, parent, run.batch);
    } else {
      announce(d, parent, [run.number], []);
    }
  } else if (run.batch !== null) {
    completeBatch(d, parent, run.batch);
  }
  d.later({ do: "settle", agent: parent.number });
}
