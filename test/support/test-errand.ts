/** An Errand over scripted models. Its store is in memory, or in a folder that is deleted after the test. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type AgentOptions,
  createErrand,
  type Errand,
  type ErrandOptions,
  type Tool,
  type TreeEvent,
  type World,
} from "../../src/index.ts";
import { createScriptedModels, type Script } from "../../src/testing/index.ts";
import type { ScriptedModels } from "../../src/testing/index.ts";
import { isTestWorld } from "./test-world.ts";

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "errand-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The path of a SQLite store that does not exist yet. */
export function temporaryStore(): string {
  return join(temporaryFolder(), "errand.db");
}

export interface TestErrand {
  readonly errand: Errand;
  readonly models: ScriptedModels;
}

/** The parent follows one script, every child the other. */
export async function openTestErrand(
  scripts: { readonly parent: Script; readonly child?: Script },
  options: Partial<ErrandOptions> & {
    readonly child?: Partial<AgentOptions>;
    readonly parent?: Partial<AgentOptions>;
    /** Facts about the models `scripted/parent` and `scripted/child`, such as their window and price. */
    readonly facts?: Parameters<typeof createScriptedModels>[1];
  } = {},
): Promise<TestErrand> {
  const { child, parent, facts, ...rest } = options;
  const models = createScriptedModels(
    { "scripted/parent": scripts.parent, "scripted/child": scripts.child ?? [] },
    facts,
  );
  const errand = await createErrand({
    store: "memory",
    model: "scripted/child",
    models: [models],
    tools: [lookTool()],
    agents: {
      orchestrator: { prompt: "You are the parent.", model: "scripted/parent", ...parent },
      worker: { prompt: "You are a child.", model: "scripted/child", ...child },
      researcher: { prompt: "You are a child.", model: "scripted/child" },
    },
    ...rest,
  });
  onTestFinished(() => closeNow(errand, rest.world));
  return { errand, models };
}

/** Closes without waiting for open work. In a test world this needs time to move. */
async function closeNow(errand: Errand, world: World | undefined): Promise<void> {
  const closed = errand.close({ withinMs: 0 });
  if (world !== undefined && isTestWorld(world)) await world.advance(1);
  await closed;
}

export function lookTool(run: Tool["run"] = async () => ({ text: "saw it", failed: false }), safe = true): Tool {
  return { name: "look", description: "Looks.", schema: { type: "object" }, safe, run };
}

/** Reads a tree's events until one satisfies the condition, and returns all of them. */
export async function eventsUntil(
  errand: Errand,
  tree: string,
  done: (event: TreeEvent) => boolean,
): Promise<TreeEvent[]> {
  const events: TreeEvent[] = [];
  for await (const event of errand.journal(tree)) {
    events.push(event);
    if (done(event)) break;
  }
  return events;
}

/** True from the step on in which the root's n-th turn ended. */
export function turnsEnded(count: number): (event: TreeEvent) => boolean {
  let seen = 0;
  return (event) => {
    seen += event.facts.filter((fact) => fact.type === "turn-ended" && fact.agent === 0).length;
    return seen >= count;
  };
}
