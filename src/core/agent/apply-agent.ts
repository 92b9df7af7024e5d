/** What facts about agents and their turns do to the state. */

import type { DefinitionFacts } from "../definition.ts";
import type { AgentKind, Fact } from "../event.ts";
import type { AgentNumber } from "../ids.ts";
import { limitAsked } from "../limits.ts";
import type { AgentState, TreeState, Turn } from "../state.ts";
import { timerClear } from "../timers.ts";
import { rightsOf, rightsSame } from "./rights.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

interface NewAgent {
  readonly number: AgentNumber;
  readonly id: string;
  readonly kind: AgentKind;
  readonly parent: AgentNumber | null;
  readonly depth: number;
  readonly definition: DefinitionFacts;
  readonly maxIterations: number;
  readonly bytesSince: number;
}

export function agentAdd(state: TreeState, agent: NewAgent): void {
  state.numbers.set(agent.id, agent.number);
  state.agents.set(agent.number, {
    ...agent,
    granted: null,
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
    said: false,
    toolEnded: false,
    tagged: false,
  });
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
    reported: false,
    failed: false,
    report: null,
    relays: [],
    sent: false,
    nudge: null,
    nudgedUser: false,
    compacted: false,
  };
}

/** Forgets the effects and questions of an agent's turn: their results and answers, should they still come, are late. */
export function turnDrop(state: TreeState, agent: AgentState): void {
  const turn = agent.turn;
  if (turn === null) return;
  if (state.budgetQueue.length > 0) state.budgetQueue = state.budgetQueue.filter((number) => number !== agent.number);
  const { question } = state.requestCalls;
  if (question !== null && state.questions.get(question)?.agent === agent.number) callsQuestionClose(state);
  if (turn.model !== null) effectDrop(state, turn.model);
  for (const call of turn.calls.values()) {
    if (call.effect !== null) effectDrop(state, call.effect);
    if (call.question !== null) state.questions.delete(call.question);
  }
  agent.turn = null;
}

function callsQuestionClose(state: TreeState): void {
  const { question } = state.requestCalls;
  if (question !== null) state.questions.delete(question);
  state.requestCalls.question = null;
}

/** A request from outside the tree: its model calls are counted from here. */
export function requestBegin(state: TreeState): void {
  callsQuestionClose(state);
  state.requestCalls.used = 0;
  state.requestCalls.refused = false;
}

export function effectDrop(state: TreeState, key: NonNullable<Turn["model"]>): void {
  const effect = state.effects.get(key);
  if (effect === undefined) return;
  if (effect.reserved !== null) {
    state.ledger.reservedTokens -= effect.reserved.tokens;
    state.ledger.reservedCost -= effect.reserved.cost;
  }
  if (effect.retryAt !== null) timerClear(state.timers, `retry:${key}`);
  state.effects.delete(key);
}

export function applyTreeOpened(state: TreeState, fact: FactOf<"tree-opened">): void {
  const catalog = new Map(fact.catalog.map((definition) => [definition.name, definition]));
  const definition = catalog.get(fact.definition);
  if (definition === undefined || state.settings !== null) return;
  state.id = fact.agent;
  state.settings = fact.settings;
  state.rights = fact.rights ?? null;
  state.catalog = catalog;
  agentAdd(state, {
    number: 0,
    id: fact.agent,
    kind: fact.kind,
    parent: null,
    depth: 0,
    definition,
    maxIterations: limitAsked(
      "turnIterations",
      definition.iterations ?? fact.settings.limits.turnIterations,
      fact.settings,
    ),
    bytesSince: 0,
  });
}

export function applyTreeForked(state: TreeState, fact: FactOf<"tree-forked">): void {
  state.id = fact.agent;
  state.closed = false;
  // What was under way goes on in the tree that this one came from, and is booked there.
  state.aborted.clear();
  // What was allowed for one conversation is asked about in the other.
  state.grants = [];
  for (const effect of state.effects.values()) effect.underWay = false;
  state.catalog = new Map(fact.catalog.map((definition) => [definition.name, definition]));
  const root = state.agents.get(0);
  if (root === undefined) return;
  state.numbers.delete(root.id);
  state.numbers.set(fact.agent, 0);
  state.agents.set(0, { ...root, id: fact.agent, definition: fact.root });
}

export function applyCatalogChanged(state: TreeState, fact: FactOf<"catalog-changed">): void {
  state.catalog = new Map(fact.catalog.map((definition) => [definition.name, definition]));
  const root = state.agents.get(0);
  if (root !== undefined) root.definition = fact.root;
  // Rights that a parent loses are lost to those below it, which come after it here, until it has them again.
  for (const agent of state.agents.values()) {
    const parent = agent.parent === null ? undefined : state.agents.get(agent.parent);
    if (parent === undefined) continue;
    const granted = agent.granted ?? agent.definition;
    const held = rightsOf(parent.definition, granted);
    const whole = rightsSame(held, granted);
    agent.definition = whole ? granted : held;
    agent.granted = whole ? null : granted;
  }
}

export function applyTurnStarted(state: TreeState, fact: FactOf<"turn-started">): void {
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
  if (taken.size > 0) agent.inbox = agent.inbox.filter((message) => !taken.has(message.key));
  agent.turnsUnprompted = prompted ? 0 : agent.turnsUnprompted + 1;
  if (fact.announcement !== undefined) {
    turn.announcement = fact.announcement;
    for (const run of fact.placed ?? []) runForget(state, run);
    agent.pending = null;
  }
}

/** The run's outcome is in its parent's context: from here on it is a record in the projection. */
export function runForget(state: TreeState, number: number): void {
  const run = state.runs.get(number);
  if (run === undefined) return;
  state.numbers.delete(run.id);
  state.runs.delete(number);
}

export function applyNudgeGiven(state: TreeState, fact: FactOf<"nudge-given">): void {
  const turn = state.agents.get(fact.agent)?.turn;
  if (turn === null || turn === undefined) return;
  turn.nudge = fact.about;
  if (fact.about === "user-message") turn.nudgedUser = true;
  const run = state.runs.get(fact.agent);
  if (fact.about === "report" && run !== undefined) run.nudged = true;
}

export function applyChannelSent(state: TreeState, fact: FactOf<"channel-sent">): void {
  const turn = state.agents.get(fact.agent)?.turn;
  if (turn === null || turn === undefined) return;
  turn.sent = true;
  if (fact.relay !== undefined) turn.relays = turn.relays.filter((key) => key !== fact.relay);
}

export function applyTurnEnded(state: TreeState, fact: FactOf<"turn-ended">): void {
  const agent = state.agents.get(fact.agent);
  if (agent === undefined) return;
  turnDrop(state, agent);
  agent.tagged = fact.tagged === true;
  if (fact.outcome === "done") agent.blocked = [];
}

export function applyContextCompacted(state: TreeState, fact: FactOf<"context-compacted">): void {
  const agent = state.agents.get(fact.agent);
  if (agent === undefined) return;
  agent.tokensKnown = 0;
  agent.bytesSince = fact.size;
  if (agent.turn !== null) agent.turn.compacted = true;
}

export function applyResultsShortened(state: TreeState, fact: FactOf<"results-shortened">): void {
  const agent = state.agents.get(fact.agent);
  if (agent !== undefined) agent.longestResult = Math.min(agent.longestResult, fact.keep);
}

export function applyWindowLearnt(state: TreeState, fact: FactOf<"window-learnt">): void {
  const agent = state.agents.get(fact.agent);
  if (agent === undefined) return;
  const { window } = fact;
  agent.definition = { ...agent.definition, window };
  if (agent.granted !== null) agent.granted = { ...agent.granted, window };
}

export function applyTreeClosed(state: TreeState): void {
  const root = state.agents.get(0);
  if (root === undefined) return;
  turnDrop(state, root);
  state.agents.delete(0);
  state.numbers.delete(root.id);
  state.closed = true;
  for (const batch of root.batches.keys()) timerClear(state.timers, `barrier:0:${batch}`);
}
