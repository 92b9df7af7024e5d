/**
 * The observer's state of a tree, from its committed facts only: a second, much simpler fold than the kernel's, written
 * from the contract. The checkers in this folder read and extend it; none of them reads the runtime.
 */

import type { AgentKind } from "../../../src/core/input.ts";
import type { DefinitionFacts } from "../../../src/core/values/definition.ts";
import type { Fact } from "../../../src/core/event.ts";
import type { Settings } from "../../../src/core/values/limits.ts";
import type { Json } from "../../../src/core/values/json.ts";
import type { JournalRow } from "../../../src/core/journal/journal.ts";
import type { ProcessRights } from "../../../src/core/permissions/process-rights.ts";

export interface WatchedMessage {
  readonly key: string;
  /** The sender and its own sequence: messages of one sender must not overtake each other. */
  readonly sender: string;
  readonly silent: boolean;
  readonly kind: string;
  readonly post: string | null;
  /** The run whose end it reports. */
  readonly run: number | null;
}

export interface WatchedAgent {
  readonly number: number;
  readonly id: string;
  readonly parent: number | null;
  readonly depth: number;
  readonly kind: AgentKind;
  /** Its current tools, and those that it had when it was created. */
  tools: readonly string[];
  granted: readonly string[];
  maxIterations: number;
  alive: boolean;
  inbox: WatchedMessage[];
  /** `summing`: its newest model call asks for a summary. */
  turn: { iterations: number; nudges: number; number: number; posts: string[]; summing: boolean } | null;
  turns: number;
  /** Ended runs in an announcement that waits for a turn of this agent. */
  pending: Set<number>;
  /** Ids that the next request of this agent must contain, because a row placed them in its context. */
  owed: Set<string>;
  /** Ids of open background runs when its newest model call was decided. */
  sight: readonly string[];
}

export interface WatchedRun {
  readonly number: number;
  readonly id: string;
  readonly agent: string;
  /** Its name for people and models: its label or the first part of its task. */
  readonly name: string;
  readonly parent: number;
  readonly mode: "awaited" | "background";
  readonly each: boolean;
  readonly unannounced: boolean;
  /** The turn of its parent in which it was created. */
  readonly turn: number | null;
  readonly batch: string | null;
  readonly timeoutMs: number;
  readonly definition: string;
  /**
   * True time for which its deadline has been paused by a question to the user, and the time since which it is paused.
   */
  parkedMs: number;
  parkedNow: number | null;
  /** True times. */
  readonly createdNow: number;
  startedNow: number | null;
  endedNow: number | null;
  state: "queued" | "running" | "waiting" | "needs_input" | "ended";
  status: string | null;
  reason: string | null;
  reports: number;
  nudges: number;
  queued: number;
  told: string[];
  /** The newest token of its session outside. */
  token: string | null;
}

export interface WatchedEffect {
  readonly agent: number;
  readonly kind: "model" | "tool" | "erase" | "runner" | "tell";
  readonly safe: boolean;
  retries: number;
  attempt: number;
  /** Tokens of the session in this attempt. */
  used: number;
  /** True if the session is over, or the message was told. */
  over: boolean;
  /** Tokens charged for an abandoned call until its real usage is known. */
  aborted?: number;
}

export interface WatchedQuestion {
  readonly agent: number;
  /** Null if the question is about model calls or of an outside child. */
  readonly call: string | null;
  /** Set for a question of an outside child. */
  readonly ask?: { readonly name: string; readonly choices: readonly string[] };
}

export interface WatchedTree {
  readonly id: string;
  readonly definition: string;
  readonly rows: JournalRow[];
  settings: Settings | null;
  catalog: Map<string, DefinitionFacts>;
  readonly agents: Map<number, WatchedAgent>;
  readonly runs: Map<number, WatchedRun>;
  readonly effects: Map<string, WatchedEffect>;
  /** Posts that a row has taken, by id: the row, and the row of their end. */
  readonly posts: Map<string, { readonly seq: number; readonly late: boolean; ended: number }>;
  /** Messages for the user, by their step key. */
  readonly sent: Set<string>;
  /** Open questions, by their step key. */
  readonly questions: Map<string, WatchedQuestion>;
  /** The newest answer. */
  answered: { readonly question: WatchedQuestion | null; readonly seq: number; readonly allow: boolean } | null;
  /** Rows with erased texts, and the hash of their remaining bodies. */
  readonly erased: Map<number, string | null>;
  closed: boolean;
  tokens: number;
  /** The rights of the process that wrote the newest row. */
  rights: ProcessRights | null;
  /** Model calls since the newest request from outside. */
  calls: number;
}

/** The position of a fact. */
export interface Moment {
  readonly seq: number;
  /** True time. */
  readonly now: number;
  readonly facts: readonly Fact[];
  /** The texts of the row. */
  readonly texts: readonly Json[];
}

export function watchedTree(id: string, definition: string): WatchedTree {
  return {
    id,
    definition,
    rows: [],
    settings: null,
    catalog: new Map(),
    agents: new Map(),
    runs: new Map(),
    effects: new Map(),
    posts: new Map(),
    sent: new Set(),
    questions: new Map(),
    answered: null,
    erased: new Map(),
    closed: false,
    tokens: 0,
    rights: null,
    calls: 0,
  };
}

export function liveAgent(tree: WatchedTree, number: number): WatchedAgent | undefined {
  const agent = tree.agents.get(number);
  return agent?.alive === true ? agent : undefined;
}

export function agentById(tree: WatchedTree, id: string): WatchedAgent | undefined {
  for (const agent of tree.agents.values()) if (agent.id === id) return agent;
  return undefined;
}

/** True if `below` is a descendant of `above`. */
export function descends(tree: WatchedTree, below: number, above: number): boolean {
  for (let at = tree.agents.get(below)?.parent ?? null; at !== null; at = tree.agents.get(at)?.parent ?? null) {
    if (at === above) return true;
  }
  return false;
}
