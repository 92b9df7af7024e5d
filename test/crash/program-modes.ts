/** What the killed program does besides conversations: runs with deadlines, and very many open runs. */

import type { createErrand, Errand, ErrandOptions, ModelProvider, World } from "../../src/index.ts";
import { callTools, createScriptedModels, hang, say } from "../../src/testing/index.ts";
import { HANGS } from "./reference.ts";
import type { ProgramOptions, Tell } from "./program-options.ts";

type Open = (more?: Partial<ErrandOptions>) => ReturnType<typeof createErrand>;

/**
 * Two runs whose children never answer, one with a short and one with a long time to live. A later life of the process
 * finds them and waits for their ends. Times are told by a clock that does not jump.
 */
export async function runDeadlines(open: Open, world: World, options: ProgramOptions, tell: Tell): Promise<void> {
  const errand = await open();
  const [known] = await errand.listTrees();
  const agent = known === undefined ? await errand.openAgent() : await errand.agent(known.id);
  const { timeoutSeconds = 1 } = options;
  await Promise.all(
    [timeoutSeconds, timeoutSeconds * 3].map(async (seconds) => {
      const run = await agent.spawn({ id: `run-${seconds}`, task: HANGS, timeoutSeconds: seconds });
      tell({ spawned: seconds, wall: world.wall() });
      const { status } = await run.outcome();
      tell({ ended: seconds, status, wall: world.wall() });
    }),
  );
  await errand.close({ withinMs: 0 });
  tell({ done: true });
}

/**
 * Many runs whose children's models never answer. The first life makes them and says when all are under way; a later
 * one says how long it took until all of them were under way again, from before the store was opened.
 */
export async function runRestart(open: Open, options: ProgramOptions, tell: Tell): Promise<void> {
  const { trees = 1, runs = 1 } = options;
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const models = hangingModels(runs, trees * runs, resolve);
  const begun = performance.now();
  const errand: Errand = await open({
    models: [models],
    tools: [],
    slots: trees * runs,
    limits: { liveChildren: runs, runsPerTree: runs, backgroundTimeoutSeconds: 3_600 },
  });
  const opened = performance.now();
  if (options.mode === "open-runs") {
    for (let number = 0; number < trees; number += 1) {
      await (await errand.openAgent()).post(`go ${number}`, { id: "go" });
    }
  }
  await all;
  const owned = performance.now();
  const running = await errand.listRuns({ state: "running", limit: 1_000_000 });
  tell({ open: running.length, recovered: errand.recovered, openedMs: opened - begun, ownedMs: owned - begun });
  if (options.mode === "open-runs") return void process.kill(process.pid, "SIGKILL");
  await errand.close({ withinMs: 0 });
}

function hangingModels(runs: number, total: number, onAll: () => void): ModelProvider {
  const seen = new Set<string>();
  return createScriptedModels({
    "scripted/parent": (_request, { replies, newest }) => {
      if (replies > 0) return say("started");
      const calls = Array.from({ length: runs }, (_, index) => ({
        name: "start_background_agent",
        input: { task: `${newest} ${HANGS} ${index}` },
      }));
      return callTools(calls);
    },
    "scripted/child": (_request, { task }) => {
      seen.add(task);
      if (seen.size === total) onAll();
      return hang();
    },
  });
}
