/**
 * What an onlooker knows of a tree from its committed facts alone: a second, much simpler fold than the kernel's own,
 * written from the contract. The checkers beside this file read and extend it; none of them looks into the runtime.
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
  /** Who sent it, and in which order of its own: what must not be overtaken. */
  readonly sender: string;
  readonly silent: boolean;
  readonly kind: string;
  readonly post: string | null;
  /** The run whose end it tells. */
  readonly run: number | null;
}

export interface WatchedAgent {
  readonly number: number;
  readonly id: string;
  readonly parent: number | null;
  readonly depth: number;
  readonly kind: AgentKind;
  /** The tools that it has now, and those that it was given when it was made. */
  tools: readonly string[];
  granted: readonly string[];
  maxIterations: number;
  alive: boolean;
  inbox: WatchedMessage[];
  /** `summing`: its newest model call is asked for a summary. */
  turn: { iterations: number; nudges: number; number: number; posts: string[]; summing: boolean } | null;
  turns: number;
  /** Ended runs in an announcement that waits for a turn. */
  pending: Set<number>;
  /** Ids that the next request of this agent must hold, because a row said that they are in its context. */
  owed: Set<string>;
  /** Ids of open background runs when its newest model call was decided. */
  sight: readonly string[];
}

export interface WatchedRun {
  readonly number: number;
  readonly id: string;
  readonly agent: string;
  /** How people and models are told of it: its label or the beginning of its task. */
  readonly name: string;
  readonly parent: number;
  readonly mode: "awaited" | "background";
  readonly each: boolean;
  readonly unannounced: boolean;
  /** The turn of its parent in which it was made. */
  readonly turn: number | null;
  readonly batch: string | null;
  readonly timeoutMs: number;
  readonly definition: string;
  /**
   * True time that it has stood still because nothing below it could go on before a user answered, and since when it
   * does.
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
}

export interface WatchedEffect {
  readonly agent: number;
  readonly kind: "model" | "tool" | "erase";
  readonly safe: boolean;
  retries: number;
  /** Tokens at which it was booked when it was given up, until its wire told. */
  aborted?: number;
}

export interface WatchedQuestion {
  readonly agent: number;
  /** Null where it is asked about model calls. */
  readonly call: string | null;
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
  /** Posts that a row has taken, by their id: the row, and where they ended. */
  readonly posts: Map<string, { readonly seq: number; readonly late: boolean; ended: number }>;
  /** Messages for the user that rows decided, by their step key. */
  readonly sent: Set<string>;
  /** Open questions, by their step key. */
  readonly questions: Map<string, WatchedQuestion>;
  /** The newest answer. */
  answered: { readonly question: WatchedQuestion | null; readonly seq: number; readonly allow: boolean } | null;
  /** Rows whose texts were erased, and the hash of what is left of their bodies. */
  readonly erased: Map<number, string | null>;
  closed: boolean;
  tokens: number;
  /** Those of the process that wrote the newest row. */
  rights: ProcessRights | null;
  /** Model calls since the newest request from outside. */
  calls: number;
}

/** Where a fact stands. */
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
