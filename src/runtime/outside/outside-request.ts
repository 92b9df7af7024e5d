/** What an outside child is given, from the tree that has decided to start it. */

import type { RunnerRequest, RunnerSettings } from "../../contracts/runner.ts";
import type { Effect } from "../../core/effect.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";

/** How long a child may take to end by itself. */
const GRACE_SECONDS = 5;
/** How long closing waits for that: the grace, and what a runner needs to kill a child. */
export const OUTSIDE_GRACE_MS = (GRACE_SECONDS + 2) * 1_000;

/** Null if the run is gone. */
export function outsideRequest(
  { id, tree }: LoadedTree,
  { agent: number, attempt }: Extract<Effect, { type: "start-runner" }>,
  settings: RunnerSettings,
  workspace: string,
): RunnerRequest | null {
  const { agents, runs, settings: ofTree, at } = tree.state;
  const agent = agents.get(number);
  const run = runs.get(number);
  const texts = tree.contexts.runs.get(number);
  const outside = texts?.outside ?? null;
  if (agent === undefined || run === undefined || texts === undefined || outside === null || ofTree === null)
    return null;
  const { used, since } = run.clock;
  const spent = used + (since === null ? 0 : Math.max(0, at - since));
  return {
    run: run.id,
    attempt,
    tree: id,
    agent: agent.id,
    prompt: tree.contexts.agents.get(number)?.system ?? "",
    task: outside.task,
    context: outside.context,
    files: [...outside.files],
    limits: {
      timeoutSeconds: Math.max(1, Math.ceil((run.timeoutMs - spent) / 1_000)),
      iterations: agent.maxIterations,
      summaryBytes: ofTree.limits.summaryBytes,
      graceSeconds: GRACE_SECONDS,
    },
    outputSchema: run.typed ? structuredClone(texts.schema ?? null) : null,
    workspace,
    settings: structuredClone(settings),
  };
}
