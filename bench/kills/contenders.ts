/** The contenders: how each stores its state and is started again, and what its documentation does not claim. */

import { join } from "node:path";
import type { Contender } from "./killed-run.ts";

export interface Entrant extends Contender {
  readonly title: string;
  readonly how: string;
  /** What its documentation does not claim. Rows that share it state it once. */
  readonly notClaimed?: string;
  readonly packages: readonly string[];
}

const entry = join(import.meta.dirname, "..", "..", "dist", "index.js");
const byTask = { tool: "child", task: "task" };
const bySupervisor = { tool: "agent-child", task: "prompt" };
const awaitedChild = { tool: "subagent", task: "task", reports: true };
const backgroundChild = { tool: "start_background_agent", task: "task", reports: true };

const SAFE_HOW = "as above, with the tool declared safe to repeat: it runs again instead of being reported as unknown.";
const errand = { name: "errand", packages: [] };

export const ENTRANTS: readonly Entrant[] = [
  {
    ...errand,
    title: "**Errand**",
    background: false,
    delegation: awaitedChild,
    options: { entry },
    how: "SQLite, the tool declared unsafe to repeat; a restart goes on with the tree by itself.",
    notClaimed:
      "**Errand** does not claim to know whether an interrupted unsafe tool did its work: it says that the outcome " +
      "is unknown. It makes interrupted model calls again, and repeats tools that are declared safe.",
  },
  {
    ...errand,
    title: "**Errand**, safe tool",
    background: false,
    delegation: awaitedChild,
    options: { entry, safe: true },
    how: SAFE_HOW,
  },
  {
    ...errand,
    title: "**Errand**",
    background: true,
    delegation: backgroundChild,
    options: { entry },
    how: "as awaited; the announcement brings the result.",
  },
  {
    ...errand,
    title: "**Errand**, safe tool",
    background: true,
    delegation: backgroundChild,
    options: { entry, safe: true },
    how: SAFE_HOW,
  },
  {
    name: "langgraph",
    title: "langgraph",
    background: false,
    delegation: byTask,
    packages: ["@langchain/langgraph", "langchain", "@langchain/langgraph-checkpoint-sqlite"],
    how:
      '`SqliteSaver`, `durability: "sync"`, the child invoked with the parent\'s `config`; restart by `invoke(null)` ' +
      "on the same thread.",
    notClaimed: "langgraph and deepagents ask for side effects that may be repeated (idempotent ones).",
  },
  {
    name: "deepagents",
    title: "deepagents",
    background: false,
    delegation: { tool: "task", task: "description", more: { subagent_type: "child" } },
    packages: ["deepagents"],
    how: "as langgraph. Its async subagents need an Agent Protocol server and are not measured.",
  },
  {
    name: "mastra-durable",
    title: "@mastra/core, durable agent",
    background: false,
    delegation: bySupervisor,
    packages: ["@mastra/core", "@mastra/libsql", "@mastra/memory"],
    how:
      'LibSQL, `recovery.durableAgents: "auto"`; restart by `recover(runId)`. The refusals are its known issue ' +
      "mastra-ai/mastra#22636. A user could ask again after a refusal; that is not measured.",
    notClaimed:
      "@mastra/core calls its durable agent a beta, and says that recovery pays for model calls and runs tools again.",
  },
  {
    name: "mastra",
    title: "@mastra/core, agent with memory",
    background: false,
    delegation: bySupervisor,
    packages: [],
    how: "LibSQL, `savePerStep`; the question is asked again on the same thread.",
    notClaimed: "Its memory claims to keep the conversation, not the run.",
  },
  {
    name: "mastra",
    title: "@mastra/core, background task",
    background: true,
    delegation: bySupervisor,
    packages: [],
    how:
      "LibSQL, `savePerStep`, `maxRetries: 2`, the subagent also registered as a tool of Mastra (otherwise tasks " +
      "fail after a restart); a restart takes up its tasks, then the program looks up their results and tells the " +
      "agent.",
    notClaimed:
      "It says that background tasks survive a restart, not that the agent hears of them, or that a task runs once.",
  },
  {
    name: "openai-agents",
    title: "@openai/agents",
    background: false,
    delegation: { tool: "child", task: "input" },
    packages: ["@openai/agents"],
    how: "the program stores the parent's `RunState` after every item; restart from it, or from the answer in it.",
    notClaimed: "@openai/agents offers `RunState` for approvals, not for crashes.",
  },
  {
    name: "ai",
    title: "ai",
    background: false,
    delegation: byTask,
    packages: ["ai"],
    how:
      "the program stores the parent's messages after every step; restart by `generate` from them. `WorkflowAgent`, " +
      "which claims durability, is another package and is not measured.",
    notClaimed: "The `ToolLoopAgent` of ai and pi-agent-core claim no durability.",
  },
  {
    name: "pi",
    title: "pi-agent-core",
    background: false,
    delegation: byTask,
    packages: ["@mariozechner/pi-agent-core"],
    how: "the program stores the parent's messages by `subscribe`; restart by `continue()` from them.",
  },
];
