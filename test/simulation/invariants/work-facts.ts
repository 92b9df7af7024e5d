/**
 * Model and tool calls: I7 (retries end visibly), I17 (iterations, budget), I18 (rights), I19 (no work for ended
 * agents), I23 (no repetition).
 */

import type { Fact } from "../../../src/core/event.ts";
import { demand } from "./violation.ts";
import { liveAgent, type WatchedAgent, type WatchedTree, type Moment } from "./watched-tree.ts";

const RETRIES = 3;

export function takeWorkFact(tree: WatchedTree, fact: Fact, moment: Moment): void {
  const { seq } = moment;
  switch (fact.type) {
    case "tree-opened": {
      tree.settings = fact.settings;
      tree.catalog = new Map(fact.catalog.map((definition) => [definition.name, definition]));
      const definition = tree.catalog.get(fact.definition);
      tree.agents.set(0, {
        number: 0,
        id: fact.agent,
        parent: null,
        depth: fact.kind === "host" ? -1 : 0,
        kind: fact.kind,
        tools: definition?.tools.map((tool) => tool.name) ?? [],
        granted: [],
        maxIterations: definition?.iterations ?? fact.settings.limits.turnIterations,
        alive: true,
        inbox: [],
        turn: null,
        turns: 0,
        pending: new Set(),
        owed: new Set(),
        sight: [],
      });
      return;
    }
    case "model-called":
      return modelCalled(tree, fact, moment);
    case "turn-model-dropped": {
      const turn = worker(tree, fact.agent, seq).turn;
      if (turn !== null && !turn.summing) turn.iterations -= 1;
      return;
    }
    case "tool-called": {
      const agent = worker(tree, fact.agent, seq);
      const allowed = fact.read === true || agent.tools.includes(fact.name);
      demand("I18", allowed, () => `agent ${fact.agent} calls ${fact.name} in row ${seq}, to which it has no right`);
      effect(tree, `${seq}.${fact.n}`, fact.agent, "tool", fact.safe === true || fact.read === true);
      return;
    }
    case "erasure-asked":
      return effect(tree, `${seq}.${fact.n}`, fact.run, "erase", true);
    case "effect-repeated": {
      const known = tree.effects.get(fact.effect);
      demand(
        "I20",
        known !== undefined,
        () => `row ${seq} repeats the effect ${fact.effect}, which was never asked for`,
      );
      demand(
        "I23",
        known.kind !== "tool" || known.safe,
        () => `row ${seq} repeats the unsafe tool call ${fact.effect}`,
      );
      if (known.kind === "erase") return;
      const agent = worker(tree, known.agent, seq);
      if (known.kind === "model") look(tree, agent);
      return;
    }
    case "model-retry-set": {
      const known = tree.effects.get(fact.effect);
      if (known === undefined) return;
      known.retries += 1;
      demand(
        "I7",
        known.retries <= RETRIES,
        () => `row ${seq} tries ${fact.effect} for the ${known.retries}th time again`,
      );
      return;
    }
    case "model-replied":
    case "tool-finished": {
      const known = tree.effects.get(fact.effect);
      demand(
        "I19",
        known !== undefined,
        () => `row ${seq} takes a result of ${fact.effect}, which was never asked for`,
      );
      worker(tree, known.agent, seq);
      if (fact.type === "model-replied") spend(tree, fact.usage);
      return;
    }
    case "model-failed": {
      const known = tree.effects.get(fact.effect);
      demand(
        "I19",
        known !== undefined,
        () => `row ${seq} takes a failure of ${fact.effect}, which was never asked for`,
      );
      const visible = moment.facts.some((other) => ENDS.has(other.type));
      demand("I7", visible, () => `the failure in row ${seq} ends in silence`);
      spend(tree, fact.usage);
      return;
    }
    case "usage-estimated": {
      const known = tree.effects.get(fact.effect);
      demand("I17", known !== undefined, () => `row ${seq} estimates ${fact.effect}, which was never asked for`);
      spend(tree, fact.usage);
      if (fact.aborted === true) known.aborted = fact.usage.input + fact.usage.output;
      return;
    }
    case "usage-learnt": {
      const known = tree.effects.get(fact.effect);
      demand("I17", known?.aborted !== undefined, () => `row ${seq} corrects ${fact.effect}, which was not given up`);
      tree.tokens -= known.aborted;
      delete known.aborted;
      spend(tree, fact.usage);
      return;
    }
    case "channel-sent":
      tree.sent.add(`${seq}.${fact.n}`);
      return;
    case "texts-erased":
      for (const { seq: row, hash } of fact.rows) tree.erased.set(row, hash);
      return;
    default:
  }
}

const ENDS = new Set<string>(["model-retry-set", "turn-ended", "run-ended", "turn-model-dropped"]);

function worker(tree: WatchedTree, number: number, seq: number): WatchedAgent {
  const agent = liveAgent(tree, number);
  demand("I19", agent !== undefined, () => `agent ${number} is gone, and row ${seq} works for it`);
  return agent;
}

function effect(tree: WatchedTree, key: string, agent: number, kind: "model" | "tool" | "erase", safe: boolean): void {
  tree.effects.set(key, { agent, kind, safe, retries: 0, attempt: 1, used: 0, over: false });
}

function modelCalled(tree: WatchedTree, fact: Extract<Fact, { type: "model-called" }>, { seq }: Moment): void {
  const agent = worker(tree, fact.agent, seq);
  demand("I19", agent.turn !== null, () => `agent ${fact.agent} calls its model in row ${seq} without a turn`);
  effect(tree, `${seq}.${fact.n}`, fact.agent, "model", true);
  look(tree, agent);
  agent.turn.summing = fact.purpose !== undefined;
  if (!agent.turn.summing) agent.turn.iterations += 1;
  const over = agent.turn.iterations > agent.maxIterations + 1;
  demand("I17", !over, () => `agent ${fact.agent} is at iteration ${agent.turn?.iterations} in row ${seq}`);
  const cap = tree.settings?.limits.tokensPerTree ?? null;
  if (cap === null) return;
  const reserved = fact.reserved?.tokens ?? 0;
  demand("I17", tree.tokens + reserved <= cap, () => `row ${seq} spends ${tree.tokens + reserved} of ${cap} tokens`);
}

/** D11: the background runs that the request must show. Runs with `announce: "none"` are not shown. */
function look(tree: WatchedTree, agent: WatchedAgent): void {
  agent.sight = [...tree.runs.values()]
    .filter(
      (run) => run.parent === agent.number && run.told.length === 0 && run.mode === "background" && !run.unannounced,
    )
    .map((run) => run.id);
}

function spend(tree: WatchedTree, usage: { readonly input: number; readonly output: number } | null): void {
  if (usage !== null) tree.tokens += usage.input + usage.output;
}
