/**
 * The conversations that golden journals are made of: scripted models, and a world in which time and randomness are the
 * same each time, so that making them again changes only what the kernel decides or the contexts hold differently.
 */

import { createErrand, type Errand, type ErrandOptions, type Tool, type TreeEvent } from "../../src/index.ts";
import { byContext, callTool, callTools, createScriptedModels, hang, say } from "../../src/testing/index.ts";
import type { Script } from "../../src/testing/index.ts";
import { createTestWorld } from "../support/test-world.ts";

export interface GoldenScenario {
  readonly parent: Script;
  readonly child: Script;
  /** Plays the conversation; returns the tree to be exported. */
  play(errand: Errand): Promise<string>;
}

const look: Tool = {
  name: "look",
  description: "Looks.",
  schema: { type: "object" },
  safe: true,
  run: async () => ({ text: "saw it", failed: false }),
};
const report = callTool("send_agent_message", { text: "my findings" });

/** Posts, and reads the tree's events until so many facts of a type have come. */
async function play(errand: Errand, type: string, count = 1): Promise<{ tree: string; events: TreeEvent[] }> {
  const agent = await errand.openAgent();
  await agent.post("go");
  return { tree: agent.id, events: await until(errand, agent.id, type, count) };
}

async function until(errand: Errand, tree: string, type: string, count = 1): Promise<TreeEvent[]> {
  const events: TreeEvent[] = [];
  let seen = 0;
  for await (const event of errand.journal(tree)) {
    events.push(event);
    seen += event.facts.filter((fact) => fact.type === type && (!("agent" in fact) || fact.agent === 0)).length;
    if (seen >= count) break;
  }
  return events;
}

export const GOLDEN_SCENARIOS: Readonly<Record<string, GoldenScenario>> = {
  "awaited-delegation": {
    parent: byContext([callTool("subagent", { task: "ask", context: "some context" }), say("answered")]),
    child: byContext([callTool("look", {}), report, say("thinking aloud")]),
    play: async (errand) => (await play(errand, "turn-ended")).tree,
  },
  "background-batch": {
    parent: byContext([
      callTools([
        { name: "start_background_agent", input: { task: "one", label: "First" } },
        { name: "start_background_agent", input: { task: "two" } },
      ]),
      say("started"),
      say("all done"),
    ]),
    child: byContext([callTool("look", {}), report, say("thinking aloud")]),
    play: async (errand) => (await play(errand, "turn-ended", 2)).tree,
  },
  "nudge-and-salvage": {
    parent: byContext([callTool("subagent", { task: "forget" }), say("salvaged")]),
    child: byContext([say("words that nobody asked for"), say("and once more")]),
    play: async (errand) => (await play(errand, "turn-ended")).tree,
  },
  cancel: {
    parent: byContext([
      callTools([
        { name: "start_background_agent", input: { task: "one" } },
        { name: "start_background_agent", input: { task: "two" } },
      ]),
      say("started"),
      say("one was cancelled"),
    ]),
    child: () => hang("never ready"),
    async play(errand) {
      const { tree } = await play(errand, "turn-ended");
      const [first] = await errand.listRuns();
      await errand.cancel(first?.id ?? "");
      await (await errand.agent(tree)).cancel();
      await until(errand, tree, "run-ended", 2);
      return tree;
    },
  },
  "erased-texts": {
    parent: byContext([
      callTool("start_background_agent", { task: "in confidence", cleanup: "delete" }),
      say("started"),
      say("told"),
    ]),
    child: byContext([callTool("look", {}), report, say("a secret")]),
    async play(errand) {
      const { tree } = await play(errand, "texts-erased");
      await until(errand, tree, "turn-ended", 2);
      return tree;
    },
  },
  fork: {
    parent: byContext([callTool("subagent", { task: "slow" }), say("without it"), say("and on")]),
    child: () => hang(),
    async play(errand) {
      const { tree, events } = await play(errand, "run-started");
      const forked = await errand.fork(tree, { at: events.at(-1)?.seq ?? 0, agent: "researcher" });
      await until(errand, forked.id, "turn-ended");
      await forked.postAndAwait("go on");
      return forked.id;
    },
  },
};

/** The lines of the scenario's journal, in a world that is the same each time. */
export async function goldenLines(scenario: GoldenScenario): Promise<string[]> {
  const world = createTestWorld();
  return journalLines(scenario, { store: "memory", world, settle: () => world.rest(), close: () => world.advance(1) });
}

/** The lines of the scenario's journal, wherever and in whichever world it is played. */
export async function journalLines(
  { parent, child, play }: GoldenScenario,
  { settle, close, ...options }: ErrandOptions & { settle(): Promise<void>; close(): Promise<void> },
): Promise<string[]> {
  const errand = await createErrand({
    ...options,
    models: [createScriptedModels({ "scripted/parent": parent, "scripted/child": child })],
    tools: [look],
    agents: {
      orchestrator: { prompt: "You are the parent.", model: "scripted/parent" },
      worker: { prompt: "You are a child.", model: "scripted/child" },
      researcher: { prompt: "You are another parent.", model: "scripted/parent" },
    },
  });
  try {
    const tree = await play(errand);
    await settle();
    const lines: string[] = [];
    for await (const line of errand.export(tree)) lines.push(line);
    return lines;
  } finally {
    const closed = errand.close({ withinMs: 0 });
    await close();
    await closed;
  }
}
