/**
 * A fork: the history of another tree, up to some step, becomes the beginning of a new one. Nothing of what was under way there goes on
 * here: children and tools are interrupted, a model call of the root is issued anew, perhaps to another model.
 */

import { answer, toolError } from "../agent/answer.ts";
import { callModelAgain } from "../agent/call-model.ts";
import type { Deciding } from "../deciding.ts";

export function treeForked(d: Deciding): string | null {
  const root = d.state.agents.get(0);
  if (root === undefined) return "the tree is closed at that point";
  d.accept();
  const own = d.state.agents.get(0);
  if (own === undefined) return null;
  for (const call of Array.from(own.turn?.calls.values() ?? [])) {
    if (call.effect !== null || call.question !== null)
      answer(d, own, call.id, toolError("interrupted: the conversation was forked before this call was answered"));
  }
  for (const run of [...own.live, ...own.queue]) {
    d.later({ do: "end-run", run, end: { status: "interrupted", reason: "forked" } });
  }
  if (own.turn !== null && own.turn.model !== null) callModelAgain(d, own.turn.model);
  else d.later({ do: "iterate", agent: 0 });
  d.later({ do: "settle", agent: 0 });
  return null;
}
