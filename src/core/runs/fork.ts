/**
 * A fork: the rows of another tree, up to some step, become the beginning of a new one. Children and tools that were
 * under way there are interrupted here. A model call of the root is issued again, perhaps to another model.
 */

import { answer, toolError } from "../agent/answer.ts";
import { callModelAgain } from "../agent/call-model.ts";
import type { Deciding } from "../step.ts";

export function treeForked(d: Deciding): string | null {
  if (!d.state.agents.has(0)) return "the tree is closed at that point";
  d.accept();
  const root = d.state.agents.get(0);
  if (root === undefined) return null;
  const { turn } = root;
  for (const { id, effect, question } of Array.from(turn?.calls.values() ?? [])) {
    if (effect !== null || question !== null)
      answer(d, root, id, toolError("interrupted: the conversation was forked before this call was answered"));
  }
  for (const run of [...root.live, ...root.queue])
    d.later({ do: "end-run", run, end: { status: "interrupted", reason: "forked" } });
  if (turn !== null && turn.model !== null) callModelAgain(d, turn.model);
  else d.later({ do: "continue-turn", agent: 0 });
  d.later({ do: "next-turn", agent: 0 });
  return null;
}
