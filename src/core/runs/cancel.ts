/** Cancelling from outside, and closing a tree. */

import { abortTurn } from "../agent/abort-turn.ts";
import type { Deciding } from "../deciding.ts";
import type { Input } from "../event.ts";
import type { RunNumber } from "../ids.ts";
import { postsLeft, untold } from "./end-run.ts";

export function cancelAsked(d: Deciding, input: Extract<Input, { type: "cancel-asked" }>): string | null {
  if (input.run !== null) {
    const run = d.state.runs.get(input.run);
    if (run === undefined || run.outcome !== null) return "the run has ended";
    d.accept();
    d.later({ do: "end-run", run: input.run, end: { status: "cancelled" } });
    return null;
  }
  const root = d.state.agents.get(0);
  if (root === undefined) return "the tree is closed";
  d.accept();
  d.later({ do: "fail-turn", agent: 0, end: { status: "cancelled" } });
  for (const run of [...root.live, ...root.queue])
    d.later({ do: "end-run", run, end: { status: "cancelled", quiet: true } });
  return null;
}

/** How many runs would end with this one: itself and every run below it. */
export function runsBelow(d: Deciding, run: RunNumber): number {
  const agent = d.state.agents.get(run);
  let count = 1;
  for (const child of [...(agent?.live ?? []), ...(agent?.queue ?? [])]) count += runsBelow(d, child);
  return count;
}

/** The root takes no more messages. Children that run go on, those that wait for a slot end; outcomes are kept as undeliverable. */
export function closeAsked(d: Deciding): string | null {
  const root = d.state.agents.get(0);
  if (root === undefined) return "the tree is closed";
  d.accept();
  abortTurn(d, root);
  const unsaid = root.turn === null || root.turn.sent ? [] : root.turn.relays;
  const waiting = root.inbox.filter((message) => message.kind === "user-facing").map((message) => message.key);
  for (const relay of [...unsaid, ...waiting]) d.emit({ type: "channel-sent", agent: 0, n: d.number(), relay });
  untold(d, root);
  for (const run of root.queue) d.later({ do: "end-run", run, end: { status: "cancelled", reason: "parent-ended" } });
  d.emit({ type: "tree-closed", posts: postsLeft(root) });
  return null;
}
