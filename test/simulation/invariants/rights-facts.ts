/**
 * Rights and model calls of a tree in any process: I18 (a row is decided under the rights of the process that wrote it;
 * a child never has more rights than its parent), I17 (model calls of one request).
 */

import type { Fact } from "../../../src/core/event.ts";
import type { ProcessRights } from "../../../src/core/permissions/process-rights.ts";
import { demand } from "./violation.ts";
import type { Moment, WatchedQuestion, WatchedTree } from "./watched-tree.ts";

export function takeRightsFact(tree: WatchedTree, fact: Fact, { seq }: Moment): void {
  switch (fact.type) {
    case "tree-opened":
      tree.rights = fact.rights ?? null;
      return;
    case "rights-changed":
      tree.rights = fact.rights;
      return;
    case "catalog-changed": {
      tree.catalog = new Map(fact.catalog.map((definition) => [definition.name, definition]));
      for (const agent of tree.agents.values()) {
        const parent = agent.parent === null ? undefined : tree.agents.get(agent.parent);
        if (agent.number === 0) agent.tools = fact.root?.tools.map((tool) => tool.name) ?? agent.tools;
        else {
          if (fact.children === true) agent.granted = definedTools(tree, agent.number);
          // Children of a closed root keep at most what they hold.
          const held = parent?.alive === true ? parent.tools : agent.tools;
          agent.tools = agent.granted.filter((name) => held.includes(name));
        }
      }
      return;
    }
    case "message-posted":
      if (fact.silent !== true) begin(tree);
      return;
    case "run-created":
      if (fact.call === null) begin(tree);
      return;
    case "question-asked": {
      if (fact.call !== undefined || fact.ask !== undefined) return;
      demand("I17", tree.calls >= callsMost(tree), () => `row ${seq} asks for more model calls after ${tree.calls}`);
      demand("I18", tree.rights?.asks === true, () => `row ${seq} asks where nobody is to be asked`);
      return;
    }
    case "answer-given":
      if (isAboutCalls(tree.answered?.question) && fact.allow) tree.calls = 0;
      return;
    case "model-called":
      demand("I17", tree.calls < callsMost(tree), () => `row ${seq} is model call ${tree.calls + 1} of its request`);
      tree.calls += 1;
      return;
    case "effect-repeated":
      if (tree.effects.get(fact.effect)?.kind === "model") tree.calls += 1;
      return;
    case "tool-called": {
      const held = fact.read === true || tree.rights?.tools.includes(fact.name) === true;
      demand("I18", held, () => `row ${seq} calls ${fact.name}, which the process that wrote it does not have`);
      return;
    }
    default:
  }
}

/** The tools in the current definition of a run's child; none if the child is gone. */
function definedTools(tree: WatchedTree, run: number): string[] {
  const definition = tree.catalog.get(tree.runs.get(run)?.definition ?? "");
  return definition?.tools.map((tool) => tool.name) ?? [];
}

/** A new request: its calls are counted from here, and questions about earlier calls are closed. */
function begin(tree: WatchedTree): void {
  tree.calls = 0;
  for (const [key, question] of tree.questions) if (isAboutCalls(question)) tree.questions.delete(key);
}

function isAboutCalls(question: WatchedQuestion | null | undefined): boolean {
  return question?.call === null && question.ask === undefined;
}

function callsMost(tree: WatchedTree): number {
  return tree.settings?.limits.modelCallsPerRequest ?? Number.POSITIVE_INFINITY;
}

/** I18: every row that a process writes was decided under its own rights. */
export function checkRights(tree: WatchedTree, rights: ProcessRights, seq: number): void {
  if (![...tree.agents.values()].some((agent) => agent.alive)) return;
  const own = JSON.stringify(tree.rights) === JSON.stringify(rights);
  demand("I18", own, () => `row ${seq} is decided under the rights of another process: ${JSON.stringify(tree.rights)}`);
}
