/** Runs one case, waits until its tree is idle, and checks what was recorded. */

import {
  createErrand,
  createModelRegistry,
  createSystemWorld,
  type Errand,
  ErrandError,
  type TreeEvent,
} from "../src/index.ts";
import { createRehearsalProvider } from "../src/cli/rehearsal/rehearsal-provider.ts";
import { createScriptedModels, fail } from "../src/testing/index.ts";
import { type EvalCase, UNAVAILABLE } from "./delegation.ts";

export interface Verdict {
  readonly name: string;
  readonly passed: boolean;
  /** The expectations that do not hold. */
  readonly problems: readonly string[];
  readonly milliseconds: number;
  readonly modelCalls: number;
  readonly tokens: number;
  readonly runs: number;
}

/** The time limit of a case, also with real models. */
const MAX_MS = 300_000;

/** Rejects with an `ErrandError` if the model is not available. `model` null means the case's scripts. */
export async function evaluate(given: EvalCase, model: string | null): Promise<Verdict> {
  const started = performance.now();
  const scripted = createScriptedModels({
    "scripted/parent": given.scripts.parent,
    "scripted/child": given.scripts.child,
  });
  const unavailable = createScriptedModels({
    [UNAVAILABLE]: () => fail({ message: `${UNAVAILABLE} could not be reached: nothing listens there.` }),
  });
  const world = createSystemWorld();
  const registry = createModelRegistry({ env: process.env, world });
  const parent = model ?? "scripted/parent";
  const child = model ?? "scripted/child";
  const errand = await createErrand({
    store: "memory",
    models: model === null ? [scripted, unavailable] : [registry, createRehearsalProvider(world), unavailable],
    world,
    model: parent,
    tools: [],
    ...given.options,
    agents: {
      orchestrator: { prompt: "Follow the user's instructions about tools to the letter.", model: parent },
      worker: { prompt: "You do one small task, exactly as you are told.", model: child, ...given.child },
    },
  });
  try {
    const { events, problem } = await observe(errand, given.request);
    const runs = await errand.listRuns();
    const problems = [...problem, ...given.check({ events, runs, scripted: model === null })];
    return {
      name: given.name,
      passed: problems.length === 0,
      problems,
      milliseconds: Math.round(performance.now() - started),
      ...figures(events),
      runs: runs.length,
    };
  } finally {
    await errand.close({ withinMs: 0 });
  }
}

interface Seen {
  readonly events: readonly TreeEvent[];
  readonly problem: readonly string[];
}

async function observe(errand: Errand, request: string): Promise<Seen> {
  const agent = await errand.openAgent();
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), MAX_MS);
  const events: TreeEvent[] = [];
  const settled = follow(errand, agent.id, events);
  try {
    await agent.postAndAwait(request, { timeoutMs: MAX_MS });
    const ended = await Promise.race([settled, late.promise]);
    return { events, problem: ended === "late" ? ["the tree did not come to rest in time"] : [] };
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    return { events, problem: [error.message] };
  } finally {
    clearTimeout(timer);
  }
}

/** The tree's steps until its root has ended a turn, is idle, and knows the end of every run. */
async function follow(errand: Errand, tree: string, events: TreeEvent[]): Promise<"settled"> {
  const open = new Set<number>();
  let turns = 0;
  let idle = true;
  for await (const event of errand.journal(tree)) {
    events.push(event);
    for (const fact of event.facts) {
      if (fact.type === "run-created") open.add(fact.run);
      if (fact.type === "turn-started" && fact.agent === 0) {
        idle = false;
        for (const run of fact.placed ?? []) open.delete(run);
      }
      if ((fact.type === "tool-answered" || fact.type === "run-undeliverable") && fact.run !== undefined)
        open.delete(fact.run);
      if (fact.type === "turn-ended" && fact.agent === 0) {
        idle = true;
        turns += 1;
      }
    }
    if (turns > 0 && idle && open.size === 0) break;
  }
  return "settled";
}

function figures(events: readonly TreeEvent[]): { readonly modelCalls: number; readonly tokens: number } {
  let modelCalls = 0;
  let tokens = 0;
  for (const fact of events.flatMap((event) => event.facts)) {
    if (fact.type === "model-called") modelCalls += 1;
    if (fact.type === "model-replied" && fact.usage !== null) tokens += fact.usage.input + fact.usage.output;
  }
  return { modelCalls, tokens };
}
