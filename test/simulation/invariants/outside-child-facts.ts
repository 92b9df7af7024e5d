/**
 * Outside children: I1 (one session per run), I12 (an answer goes to the child that asked), I17 (usage and iterations),
 * I18 (the runner is permitted, and gets only what it takes), I19 and I13 (nothing of an old session counts), I7 (lost
 * sessions end visibly).
 */

import type { DefinitionFacts } from "../../../src/core/values/definition.ts";
import type { Fact, FactOf } from "../../../src/core/event.ts";
import { type Json, jsonObjectIs } from "../../../src/core/values/json.ts";
import { judge, rulesOf } from "./question-facts.ts";
import { demand } from "./violation.ts";
import { liveAgent, type Moment, type WatchedAgent, type WatchedEffect, type WatchedTree } from "./watched-tree.ts";

/** Questions of one child that are open at the same time. */
const MOST_OPEN = 20;

type SessionFact = FactOf<"runner-progressed" | "runner-asked" | "runner-reported" | "runner-ended">;

export function takeOutsideFact(tree: WatchedTree, fact: Fact, moment: Moment): void {
  const { seq } = moment;
  switch (fact.type) {
    case "run-created": {
      const name = tree.catalog.get(fact.definition)?.runner?.name;
      const denied = name !== undefined && judge(rulesOf(tree, fact.parent), `runner:${name}`) === "deny";
      demand("I18", !denied, () => `row ${seq} creates a run for the runner ${name}, which is not permitted`);
      return;
    }
    case "question-asked":
      return fact.ask === undefined ? undefined : askedBy(tree, fact, moment);
    case "runner-started":
      return started(tree, fact, seq);
    case "runner-progressed": {
      const agent = session(tree, fact, moment);
      const run = tree.runs.get(agent.number);
      if (fact.resumable === true && run !== undefined) run.token = textOf(moment.texts[1]);
      if (agent.turn !== null) agent.turn.iterations = Math.max(agent.turn.iterations, fact.iterations ?? 0);
      const over = agent.turn !== null && agent.turn.iterations > agent.maxIterations;
      demand(
        "I17",
        !over || endsRun(moment, agent),
        () => `agent ${agent.number} goes on in row ${seq} over its limit`,
      );
      return checkBudget(tree, agent, moment);
    }
    case "runner-asked":
    case "runner-reported":
      session(tree, fact, moment);
      return;
    case "runner-ended": {
      const agent = session(tree, fact, moment);
      const known = tree.effects.get(fact.effect);
      if (known !== undefined) known.over = true;
      demand("I7", endsRun(moment, agent), () => `the session of agent ${agent.number} ends in silence in row ${seq}`);
      return;
    }
    case "runner-message-sent": {
      const agent = worker(tree, fact.agent, seq);
      const takes = definitionOf(tree, agent)?.runner?.takes ?? [];
      demand("I18", takes.includes(fact.kind), () => `row ${seq} sends ${fact.kind}, which the runner does not take`);
      const open = [...tree.effects.values()].some(
        (other) => other.kind === "runner" && other.agent === agent.number && !other.over,
      );
      demand("I19", open, () => `row ${seq} sends ${fact.kind} to agent ${agent.number}, which has no session`);
      tree.effects.set(`${seq}.${fact.n}`, effectOf(agent.number, "tell"));
      return;
    }
    case "runner-told": {
      const known = tree.effects.get(fact.effect);
      demand("I12", known?.kind === "tell" && !known.over, () => `row ${seq} tells ${fact.effect} a second time`);
      demand("I19", known.attempt === fact.attempt, () => `row ${seq} takes an old attempt of ${fact.effect}`);
      known.over = true;
      return;
    }
    case "answer-given":
      return answered(tree, fact, moment);
    case "effect-repeated": {
      const known = tree.effects.get(fact.effect);
      if (known === undefined) return;
      known.attempt += 1;
      known.used = 0;
      const { attempt } = known;
      demand("I20", fact.attempt === attempt, () => `row ${seq} repeats ${fact.effect} as attempt ${fact.attempt}`);
      return;
    }
    case "run-ended": {
      const outside = tree.catalog.get(tree.runs.get(fact.run)?.definition ?? "");
      const lost = fact.reason === "runner-lost";
      const [input] = moment.facts;
      const said =
        input?.type === "runner-ended" && input.status === "lost" && tree.effects.get(input.effect)?.agent === fact.run;
      demand("I7", lost === said, () => `run ${fact.run} ends by ${fact.reason} in row ${seq}`);
      if (outside?.runner === undefined || !outside.typed || fact.status !== "ok") return;
      demand("I13", fact.report === "tool", () => `run ${fact.run} ends well in row ${seq} without the data it owes`);
      return;
    }
    default:
  }
}

function textOf(text: Json | undefined): string {
  return typeof text === "string" ? text : "";
}

function effectOf(agent: number, kind: "runner" | "tell"): WatchedEffect {
  return { agent, kind, safe: true, retries: 0, attempt: 1, used: 0, over: false };
}

function worker(tree: WatchedTree, number: number, seq: number): WatchedAgent {
  const agent = liveAgent(tree, number);
  demand(
    "I19",
    agent?.turn !== null && agent !== undefined,
    () => `row ${seq} works for agent ${number}, gone or idle`,
  );
  return agent;
}

function definitionOf(tree: WatchedTree, { number }: WatchedAgent): DefinitionFacts | undefined {
  return tree.catalog.get(tree.runs.get(number)?.definition ?? "");
}

function started(tree: WatchedTree, fact: FactOf<"runner-started">, seq: number): void {
  const agent = worker(tree, fact.agent, seq);
  const earlier = [...tree.effects.values()].some(({ kind, agent: of }) => kind === "runner" && of === agent.number);
  demand("I1", !earlier, () => `row ${seq} starts a second session for run ${agent.number}`);
  const { runner } = definitionOf(tree, agent) ?? {};
  demand("I18", runner !== undefined, () => `row ${seq} starts a session for agent ${agent.number}, without a runner`);
  demand("I17", !usedUp(tree), () => `row ${seq} starts an outside child though the tree has used its tokens`);
  tree.effects.set(`${seq}.${fact.n}`, effectOf(agent.number, "runner"));
}

/** Books what the session has used. Returns its agent, which must be at work. */
function session(tree: WatchedTree, { effect, attempt, used }: SessionFact, { seq }: Moment): WatchedAgent {
  const known = tree.effects.get(effect);
  const open = known?.kind === "runner" && !known.over && known.attempt === attempt;
  demand("I19", open, () => `row ${seq} takes what attempt ${attempt} of the session ${effect} says`);
  if (used !== undefined) {
    const tokens = Math.max(known.used, used.input + used.output);
    tree.tokens += tokens - known.used;
    known.used = tokens;
  }
  return worker(tree, known.agent, seq);
}

function usedUp(tree: WatchedTree): boolean {
  const cap = tree.settings?.limits.tokensPerTree ?? null;
  return cap !== null && tree.tokens >= cap;
}

function endsRun({ facts }: Moment, { number }: WatchedAgent): boolean {
  return facts.some((fact) => fact.type === "run-ended" && fact.run === number);
}

function checkBudget(tree: WatchedTree, agent: WatchedAgent, moment: Moment): void {
  const held = !usedUp(tree) || endsRun(moment, agent);
  demand("I17", held, () => `agent ${agent.number} goes on in row ${moment.seq} though the tree has used its tokens`);
}

/** What a child asks: its own name for it, and the answers that fit. */
function askedBy(tree: WatchedTree, fact: FactOf<"question-asked">, { seq, texts }: Moment): void {
  const { ask = "" } = fact;
  const agent = worker(tree, fact.agent, seq);
  const open = [...tree.questions.values()].filter((question) => question.agent === fact.agent);
  demand(
    "I1",
    open.every((other) => other.ask?.name !== ask),
    () => `row ${seq} asks ${ask} while it is open`,
  );
  demand("I17", open.length < MOST_OPEN, () => `row ${seq} opens question ${open.length + 1} of agent ${fact.agent}`);
  const takes = definitionOf(tree, agent)?.runner?.takes ?? [];
  demand("I18", takes.includes("answer"), () => `row ${seq} asks for a child that takes no answers`);
  const [asked] = texts;
  const choices =
    jsonObjectIs(asked) && Array.isArray(asked["choices"])
      ? asked["choices"].map((choice) => textOf(choice as Json))
      : [];
  tree.questions.set(`${seq}.${fact.n}`, { agent: fact.agent, call: null, ask: { name: ask, choices } });
}

/** Called before the question is closed. */
function answered(tree: WatchedTree, fact: FactOf<"answer-given">, { seq, facts, texts }: Moment): void {
  const ask = tree.questions.get(fact.question)?.ask;
  if (ask === undefined) return;
  const words = textOf(texts[0]);
  const fits = !fact.allow || (words.trim() !== "" && (ask.choices.length === 0 || ask.choices.includes(words)));
  demand("I18", fits, () => `row ${seq} takes "${words}" as the answer to ${fact.question}`);
  const sent = facts.filter((other) => other.type === "runner-message-sent" && other.ask === ask.name);
  demand("I12", sent.length === 1, () => `the answer in row ${seq} is sent to its child ${sent.length} times`);
}
