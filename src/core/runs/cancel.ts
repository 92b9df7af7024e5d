/** Cancelling runs from outside the tree, and closing a tree. */

import { abortTurn } from "../agent/call-model.ts";
import type { FactOf } from "../event.ts";
import type { Deciding } from "../step.ts";
import type { RunNumber } from "../values/ids.ts";
import { markUndeliverable, unansweredPosts } from "./end-run.ts";

export function cancelAsked(d: Deciding, { run: number }: FactOf<"cancel-asked">): string | null {
  if (number !== null) {
    const run = d.state.runs.get(number);
    if (run === undefined || run.outcome !== null) return "the run has ended";
    d.accept();
    d.later({ do: "end-run", run: number, end: { status: "cancelled" } });
    return null;
  }
  const root = d.state.agents.get(0);
  if (root === undefined) return "the tree is closed";
  d.accept();
  d.later({ do: "fail-turn", agent: 0, end: { status: "cancelled" } });
  for (const run of [...root.live, ...root.queue])
    d.later({ do: "end-run", run, end: { status: "cancelled", silent: true } });
  return null;
}

/** How many runs end with this one: itself and every run below it. */
export function runsBelow(d: Deciding, run: RunNumber): number {
  const agent = d.state.agents.get(run);
  let count = 1;
  for (const child of [...(agent?.live ?? []), ...(agent?.queue ?? [])]) count += runsBelow(d, child);
  return count;
}

/** The root takes no more messages. Running children continue, queued ones end, and no outcome can be delivered. */
export function closeAsked(d: Deciding): string | null {
  const root = d.state.agents.get(0);
  if (root === undefined) return "the tree is closed";
  d.accept();
  abortTurn(d, root);
  const unsent = root.turn === null || root.turn.sent ? [] : root.turn.relays;
  const waiting = root.inbox.filter(({ kind }) => kind === "user-facing").map(({ key }) => key);
  for (const relay of [...unsent, ...waiting]) d.emit({ type: "channel-sent", agent: 0, n: d.number(), relay });
  markUndeliverable(d, root);
  for (const run of root.queue) d.later({ do: "end-run", run, end: { status: "cancelled", reason: "parent-ended" } });
  d.emit({ type: "tree-closed", posts: unansweredPosts(root) });
  return null;
}
