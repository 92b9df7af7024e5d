/**
 * An Errand for tests: scripted models for every agent, a clock that the test moves, and a crash at any moment.
 *
 * Invariants:
 *  1. No agent calls another model than its script, whatever models the options name.
 *  2. After `crash`, the dropped runtime writes nothing and none of its timers fires: the next one finds what was
 *     committed, as after a kill of the process.
 */

import { fileTools } from "../tools/index.ts";
import type { ModelRequest } from "../contracts/model.ts";
import type { Store } from "../contracts/store.ts";
import { builtInDefinitions } from "../definitions/built-in.ts";
import { fail } from "../models/scripted-reply.ts";
import { byContext, createScriptedModels, type Script, type ScriptedModels } from "../models/scripted.ts";
import { createErrand, openStoreAt } from "../runtime/create-runtime.ts";
import type { AgentOptions } from "../runtime/definitions/agent-options.ts";
import { toolsOf } from "../runtime/definitions/ai-sdk-tool.ts";
import type { ErrandOptions } from "../runtime/errand-options.ts";
import type { Errand } from "../runtime/errand.ts";
import { ErrandError } from "../errors.ts";
import { createMemoryStore } from "../stores/memory/memory-store.ts";
import { createLifetime, type Lifetime } from "./lifetime.ts";
import { createTestWorld, type TestWorld } from "./test-world.ts";

/** The options of `createErrand`, with replies in place of models. */
export interface TestErrandOptions extends Omit<ErrandOptions, "store" | "model" | "models" | "world"> {
  /**
   * What each agent's model replies, by the agent's name. Each conversation and each child begins with the first reply
   * of a list; a call that is repeated after a crash gets the same reply again. A function gets the request.
   */
  readonly replies: Readonly<Record<string, Script>>;
  /** Default: `"memory"`. A crash keeps its journals. */
  readonly store?: string | { readonly path: string; readonly durability?: "full" | "relaxed" };
  /** Default: a new one. Give one to share it. */
  readonly world?: TestWorld;
}

/** An Errand over scripted models that a test can crash. */
export interface TestErrand {
  /** The one that runs now: after `crash` it is another one. */
  readonly errand: Errand;
  /** Its clock. It stands still until the test moves it. */
  readonly world: TestWorld;
  /** What the model of an agent was asked, in order, also before a crash. */
  requests(agent: string): readonly ModelRequest[];
  /**
   * Drops the runtime as a kill of its process would, opens the store again, and gives the Errand that goes on. What
   * was awaited of the old one never settles. Code of a tool that is running cannot be stopped: it runs on, and its
   * result is lost.
   */
  crash(): Promise<Errand>;
  /** Closes without waiting for open work. */
  close(): Promise<void>;
}

/** Opens an Errand whose agents follow scripts. Close it when the test is finished. */
export async function createTestErrand(options: TestErrandOptions): Promise<TestErrand> {
  const { replies, store: place = "memory", world = createTestWorld(), ...rest } = options;
  const agents = agentsOf(rest);
  const models = modelsOf(Object.keys(agents), replies, world);
  let memory: Store | null = null;

  function openStore(): Promise<Store> | Store {
    if (place === "memory") return (memory ??= createMemoryStore());
    const { path, durability = "full" } = typeof place === "string" ? { path: place } : place;
    return openStoreAt(path, "own", { durability });
  }

  async function begin(): Promise<{ readonly errand: Errand; readonly life: Lifetime; readonly store: Store }> {
    const store = await openStore();
    const life = createLifetime(store, world);
    const errand = await createErrand({
      ...rest,
      agents: Object.fromEntries(
        Object.entries(agents).map(([name, agent]) => [name, { ...agent, model: modelName(name) }]),
      ),
      models: [models],
      model: modelName("worker"),
      store: life.store,
      world: life.world,
    });
    return { errand, life, store };
  }

  let now = await begin();
  return {
    get errand() {
      return now.errand;
    },
    world,
    requests: (agent) => models.model(modelName(agent)).requests,
    async crash() {
      now.life.end();
      if (now.store !== memory) await now.store.close();
      now = await begin();
      return now.errand;
    },
    async close() {
      const closed = now.errand.close({ withinMs: 0 });
      await world.until(closed);
    },
  };
}

function modelName(agent: string): string {
  return `scripted/${agent}`;
}

/** The given agents and the built-in ones. */
function agentsOf({ agents = {}, tools }: Pick<ErrandOptions, "agents" | "tools">): Record<string, AgentOptions> {
  const builtIn = builtInDefinitions(tools === undefined ? fileTools() : toolsOf(tools));
  return { ...Object.fromEntries(builtIn.map(({ name, ...agent }) => [name, agent])), ...agents };
}

function modelsOf(agents: readonly string[], replies: TestErrandOptions["replies"], world: TestWorld): ScriptedModels {
  const unknown = Object.keys(replies).find((name) => !agents.includes(name));
  if (unknown !== undefined)
    throw new ErrandError("usage", `There are replies for "${unknown}", and no agent has that name.`, {
      remedy: `Agents: ${agents.join(", ")}.`,
    });
  const scripts = agents.map((name): [string, Script] => {
    const script = Object.hasOwn(replies, name) ? replies[name] : undefined;
    if (script === undefined)
      return [modelName(name), () => fail({ message: `"${name}" has no replies in this test.` })];
    return [modelName(name), typeof script === "function" ? script : byContext(script)];
  });
  return createScriptedModels(Object.fromEntries(scripts), {}, { world });
}
