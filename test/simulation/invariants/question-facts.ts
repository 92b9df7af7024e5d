/**
 * Questions: I18 (a call that needs permission runs only in the row of an answer that allows it), I19 (no answer for an
 * agent that is gone), I22 (deadlines pause while a question is open).
 */

import type { DefinitionFacts } from "../../../src/core/values/definition.ts";
import type { Fact } from "../../../src/core/event.ts";
import { demand } from "./violation.ts";
import { liveAgent, type Moment, type WatchedTree } from "./watched-tree.ts";

type Rules = NonNullable<DefinitionFacts["permissions"]>;

export function takeQuestionFact(tree: WatchedTree, fact: Fact, { seq, now }: Moment): void {
  switch (fact.type) {
    case "question-asked": {
      if (fact.to !== undefined) tree.sent.add(`${seq}.${fact.n}`);
      // What an outside child asks is checked with its session.
      if (fact.ask !== undefined) return;
      if (fact.call === undefined) return callsAsked(tree, fact, seq);
      const agent = liveAgent(tree, fact.agent);
      demand("I19", agent?.turn !== null && agent !== undefined, () => `row ${seq} asks for an agent without a turn`);
      const judged = judge(rulesOf(tree, fact.agent), fact.name);
      demand("I18", judged === "ask", () => `row ${seq} asks about ${fact.name}, which is to be ${judged}`);
      tree.questions.set(`${seq}.${fact.n}`, { agent: fact.agent, call: fact.call });
      return;
    }
    case "answer-given":
      demand("I19", tree.questions.has(fact.question), () => `row ${seq} answers ${fact.question}, which is not open`);
      tree.answered = { question: tree.questions.get(fact.question) ?? null, seq, allow: fact.allow };
      tree.questions.delete(fact.question);
      return;
    case "tool-called": {
      if (fact.read === true) return;
      const judged = judge(rulesOf(tree, fact.agent), fact.name);
      const { answered } = tree;
      const answer = answered !== null && answered.seq === seq && answered.allow ? answered.question : null;
      const permitted =
        judged === "allow" || (judged === "ask" && answer?.agent === fact.agent && answer.call === fact.call);
      demand("I18", permitted, () => `row ${seq} calls ${fact.name}, which is to be ${judged}`);
      return;
    }
    case "run-state-changed": {
      const run = tree.runs.get(fact.run);
      if (run === undefined) return;
      if (run.parkedNow !== null) run.parkedMs += now - run.parkedNow;
      run.parkedNow = fact.state === "needs_input" ? now : null;
      return;
    }
    case "turn-ended":
      return close(tree, fact.agent);
    case "run-ended": {
      const run = tree.runs.get(fact.run);
      if (run !== undefined && run.parkedNow !== null) run.parkedMs += now - run.parkedNow;
      return close(tree, fact.run);
    }
    case "tree-closed":
      return close(tree, 0);
    default:
  }
}

/** The question whether the request may use more model calls. */
function callsAsked(tree: WatchedTree, fact: Extract<Fact, { type: "question-asked" }>, seq: number): void {
  tree.questions.set(`${seq}.${fact.n}`, { agent: fact.agent, call: null });
}

function close(tree: WatchedTree, agent: number): void {
  for (const [key, question] of tree.questions) if (question.agent === agent) tree.questions.delete(key);
}

/** The rules of the process, of the agent's definition and of its ancestors: a call needs the consent of all. */
export function rulesOf(tree: WatchedTree, number: number): Rules {
  const lists: Rules[number][] = tree.rights?.permissions === undefined ? [] : [tree.rights.permissions];
  for (let at: number | null = number; at !== null; at = tree.agents.get(at)?.parent ?? null) {
    const definition = at === 0 ? tree.definition : (tree.runs.get(at)?.definition ?? "");
    lists.push(...(tree.catalog.get(definition)?.permissions ?? []));
  }
  return lists;
}

/** Rules of a simulation only name a tool. A tool without a rule is asked about. */
export function judge(lists: Rules, tool: string): "allow" | "ask" | "deny" {
  const each = new Set(lists.map((rules) => rules.find((rule) => rule.tool === tool)?.decision ?? "ask"));
  return each.has("deny") ? "deny" : each.has("ask") ? "ask" : "allow";
}
