/** What facts about trees, agents and their turns do to the state. */

import type { AgentState, StateHandlers, TreeState, Turn } from "../state.ts";
import type { DefinitionFacts } from "../values/definition.ts";
import type { StepKey } from "../values/ids.ts";
import { limitAsked } from "../values/limits.ts";
import { clockNew } from "../values/timers.ts";
import { definitionsRenewed } from "./rights.ts";
import { turnClockFork } from "./turn-clock.ts";

type NewAgent = Pick<
  AgentState,
  "number" | "id" | "kind" | "parent" | "depth" | "definition" | "maxIterations" | "bytesSince"
>;

export function agentAdd(state: TreeState, agent: NewAgent): void {
  state.numbers.set(agent.id, agent.number);
  state.agents.set(agent.number, {
    ...agent,
    ownDefinition: null,
    inbox: [],
    turn: null,
    turns: 0,
    turnsUnprompted: 0,
    live: new Set(),
    queue: [],
    batches: new Map(),
    pending: null,
    blocked: [],
    tokensKnown: 0,
    longestResult: 0,
    hasCutResult: false,
    tagged: false,
  });
}

/** Removes an agent that is closed, with its timers and effects. */
export function agentRemove(state: TreeState, agent: AgentState): void {
  turnDrop(state, agent);
  for (const batch of agent.batches.keys()) state.timers.delete(`barrier:${agent.number}:${batch}`);
  state.agents.delete(agent.number);
  state.numbers.delete(agent.id);
}

export function turnNew(agent: AgentState): Turn {
  agent.turns += 1;
  return {
    number: agent.turns,
    iterations: 0,
    announcement: null,
    posts: [],
    model: null,
    calls: new Map(),
    working: 0,
    clock: clockNew(),
    replyReported: false,
    replyFailed: false,
    reported: false,
    relays: [],
    sent: false,
    nudge: null,
    nudgedUser: false,
    compacted: false,
  };
}

/** Forgets the effects and questions of an agent's turn. Results and answers that arrive later are rejected. */
function turnDrop(state: TreeState, agent: AgentState): void {
  const { turn, number } = agent;
  if (turn === null) return;
  budgetLeave(state, number);
  const { question } = state.requestCalls;
  if (question !== null && state.questions.get(question)?.agent === number) callsQuestionClose(state);
  if (turn.model !== null) effectDrop(state, turn.model);
  for (const call of turn.calls.values()) {
    if (call.effect !== null) effectDrop(state, call.effect);
    if (call.question !== null) state.questions.delete(call.question);
  }
  if (agent.definition.runner !== undefined) outsideDrop(state, number);
  state.timers.delete(`turn:${number}`);
  agent.turn = null;
}

/** Messages under way to an outside child, and what it has asked. */
function outsideDrop(state: TreeState, number: number): void {
  for (const [key, { kind, agent }] of state.effects)
    if (kind === "tell" && agent === number) state.effects.delete(key);
  for (const [key, { ask, agent }] of state.questions)
    if (ask !== null && agent === number) state.questions.delete(key);
}

export function budgetLeave(state: TreeState, number: number): void {
  if (state.budgetQueue.length > 0) state.budgetQueue = state.budgetQueue.filter((agent) => agent !== number);
}

function callsQuestionClose(state: TreeState): void {
  const { question } = state.requestCalls;
  if (question !== null) state.questions.delete(question);
  state.requestCalls.question = null;
}

/** A request from outside the tree begins: its model calls are counted from here. */
export function requestBegin(state: TreeState): void {
  callsQuestionClose(state);
  state.requestCalls.used = 0;
  state.requestCalls.refused = false;
}

export function effectDrop(state: TreeState, key: StepKey): void {
  const effect = state.effects.get(key);
  if (effect === undefined) return;
  if (effect.reserved !== null) {
    state.ledger.reservedTokens -= effect.reserved.tokens;
    state.ledger.reservedCost -= effect.reserved.cost;
  }
  if (effect.retryAt !== null) state.timers.delete(`retry:${key}`);
  state.effects.delete(key);
}

/** The run's outcome is in its parent's context. From here on only the projection has a record of it. */
export function runForget(state: TreeState, number: number): void {
  const run = state.runs.get(number);
  if (run === undefined) return;
  state.numbers.delete(run.id);
  state.runs.delete(number);
}

function catalogOf(definitions: readonly DefinitionFacts[]): Map<string, DefinitionFacts> {
  return new Map(definitions.map((definition) => [definition.name, definition]));
}

export const agentFacts = {
  "tree-opened"(state, fact) {
    const catalog = catalogOf(fact.catalog);
    const definition = catalog.get(fact.definition);
    const { settings } = fact;
    if (definition === undefined || state.settings !== null) return;
    state.id = fact.agent;
    state.settings = settings;
    state.rights = fact.rights ?? null;
    state.catalog = catalog;
    const iterations = definition.iterations ?? settings.limits.turnIterations;
    agentAdd(state, {
      number: 0,
      id: fact.agent,
      kind: fact.kind,
      parent: null,
      // The depth of a program's runs is counted from the run.
      depth: fact.kind === "host" ? -1 : 0,
      definition,
      maxIterations: limitAsked("turnIterations", iterations, settings),
      bytesSince: 0,
    });
  },

  "tree-forked"(state, fact, { at }) {
    state.id = fact.agent;
    state.closed = false;
    // Aborted calls belong to the origin tree, which books their usage.
    state.aborted.clear();
    // A grant is valid for one conversation.
    state.grants = [];
    for (const effect of state.effects.values()) effect.underWay = false;
    state.catalog = catalogOf(fact.catalog);
    const root = state.agents.get(0);
    if (root === undefined) return;
    state.numbers.delete(root.id);
    state.numbers.set(fact.agent, 0);
    const forked = { ...root, id: fact.agent, definition: fact.root };
    state.agents.set(0, forked);
    turnClockFork(state, forked, at);
  },

  "catalog-changed"(state, fact) {
    const renewed = definitionsRenewed(state, fact);
    state.catalog = catalogOf(fact.catalog);
    for (const [number, now] of renewed) {
      const agent = state.agents.get(number);
      if (agent !== undefined) Object.assign(agent, now);
    }
  },

  "rights-changed"(state, { rights }) {
    state.rights = rights;
  },

  "turn-started"(state, fact) {
    const agent = state.agents.get(fact.agent);
    if (agent === undefined) return;
    const turn = turnNew(agent);
    agent.turn = turn;
    const taken = new Set(fact.take);
    let prompted = fact.announcement !== undefined;
    for (const message of agent.inbox) {
      if (!taken.has(message.key)) continue;
      if (message.post !== null) turn.posts.push(message.post);
      if (message.kind === "user-facing") turn.relays.push(message.key);
      if (message.kind === "user" || message.kind === "steer") prompted = true;
      agent.bytesSince += message.size;
    }
    agent.inbox = agent.inbox.filter((message) => !taken.has(message.key));
    agent.turnsUnprompted = prompted ? 0 : agent.turnsUnprompted + 1;
    if (fact.announcement === undefined) return;
    turn.announcement = fact.announcement;
    for (const run of fact.placed ?? []) runForget(state, run);
    agent.pending = null;
  },

  "nudge-given"(state, { agent, about }) {
    const turn = state.agents.get(agent)?.turn ?? null;
    if (turn === null) return;
    turn.nudge = about;
    const run = state.runs.get(agent);
    if (about === "user-message") turn.nudgedUser = true;
    else if (run !== undefined) run.nudged = true;
  },

  "channel-sent"(state, { agent, relay }) {
    const turn = state.agents.get(agent)?.turn ?? null;
    if (turn === null) return;
    turn.sent = true;
    if (relay !== undefined) turn.relays = turn.relays.filter((key) => key !== relay);
  },

  "turn-ended"(state, fact) {
    const agent = state.agents.get(fact.agent);
    if (agent === undefined) return;
    turnDrop(state, agent);
    agent.tagged = fact.tagged === true;
    if (fact.outcome === "done") agent.blocked = [];
  },

  "context-compacted"(state, fact) {
    const agent = state.agents.get(fact.agent);
    if (agent === undefined) return;
    agent.tokensKnown = 0;
    agent.bytesSince = fact.size;
    if (agent.turn !== null) agent.turn.compacted = true;
  },

  "results-shortened"(state, fact) {
    const agent = state.agents.get(fact.agent);
    if (agent !== undefined) agent.longestResult = Math.min(agent.longestResult, fact.keep);
  },

  "window-learnt"(state, { agent: number, window }) {
    const agent = state.agents.get(number);
    if (agent === undefined) return;
    agent.definition = { ...agent.definition, window };
    if (agent.ownDefinition !== null) agent.ownDefinition = { ...agent.ownDefinition, window };
  },

  "tree-closed"(state) {
    const root = state.agents.get(0);
    if (root === undefined) return;
    agentRemove(state, root);
    state.closed = true;
  },
} satisfies Partial<StateHandlers>;
