/**
 * The control state of a tree: the fold of its facts and nothing else.
 *
 * Invariants:
 *  1. It holds no texts. What a model reads is in the contexts (context/), folded from the same rows.
 *  2. It does not grow with history. Agents leave it when they close, runs when their parent's context has the outcome.
 *  3. Only `apply` changes it, in place.
 */

import type { DefinitionFacts, ModelPrice } from "./values/definition.ts";
import type { FactOf, FactType, Stamp } from "./event.ts";
import type { AgentKind } from "./input.ts";
import type { AgentNumber, PostId, RunNumber, StepKey } from "./values/ids.ts";
import type { ReportKind, RunMode, RunState, RunStatus } from "./journal/journal.ts";
import type { Settings } from "./values/limits.ts";
import type { PermissionRule } from "./permissions/permissions.ts";
import type { ProcessRights } from "./permissions/process-rights.ts";
import type { Clock, Timers } from "./values/timers.ts";

export type MessageKind = "user" | "system" | "user-facing" | "steer";

export interface InboxMessage {
  readonly key: StepKey;
  readonly kind: MessageKind;
  readonly silent: boolean;
  /** Its post; the sender may wait for the turn. */
  readonly post: PostId | null;
  /** The agent that sent it; null for a message from outside the tree. */
  readonly from: AgentNumber | null;
  /** True if it joins the turn that waits for its sender (rule C5). */
  readonly joins: boolean;
  readonly size: number;
}

export interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** What it waits for: at most one of these is set. */
  effect: StepKey | null;
  run: RunNumber | null;
  question: StepKey | null;
  /** A final report, which is answered after all other calls of its reply. */
  readonly final: boolean;
}

export interface Turn {
  readonly number: number;
  iterations: number;
  /** The announcement it placed. */
  announcement: StepKey | null;
  posts: PostId[];
  /** The open model call, or the session of an outside child. */
  model: StepKey | null;
  /** Calls of the newest reply that are not answered yet. */
  calls: Map<string, OpenCall>;
  /** How many of them wait for an effect. */
  working: number;
  /** Running time of a root agent's turn. For a child the clock of its run counts. */
  clock: Clock;
  /** True if the newest reply reported, and if one of its calls failed, was refused or has an unknown outcome. */
  replyReported: boolean;
  replyFailed: boolean;
  /** True if a reply of the turn reported. The report answers the posts of the turn. */
  reported: boolean;
  /** User-facing messages that the turn took and that have not reached the user. */
  relays: StepKey[];
  /** True if something was sent to the channel after the newest user-facing message was taken. */
  sent: boolean;
  /** The nudge that the newest model call answers. */
  nudge: "report" | "user-message" | null;
  nudgedUser: boolean;
  compacted: boolean;
}

/** Background runs of one parent that are announced together. */
export interface Batch {
  readonly key: string;
  /** The turn that started its newest run. The batch is not complete before that turn has ended. */
  turn: number | null;
  /** Members that have not ended. */
  open: Set<RunNumber>;
  /** Members that have ended and wait to be announced. */
  ended: RunNumber[];
  /** Its barrier passed: each member is announced alone when it ends. */
  passed: boolean;
}

export interface Announcement {
  readonly key: StepKey;
  runs: RunNumber[];
  stragglers: RunNumber[];
}

export interface AgentState {
  readonly number: AgentNumber;
  readonly id: string;
  readonly kind: AgentKind;
  readonly parent: AgentNumber | null;
  readonly depth: number;
  /** Its definition, with no more rights than its parent holds now. */
  definition: DefinitionFacts;
  /** Its own definition, if its parent holds less; else null. */
  ownDefinition: DefinitionFacts | null;
  maxIterations: number;
  inbox: InboxMessage[];
  turn: Turn | null;
  turns: number;
  /** Turns in a row without a user message, a steer or an announcement. */
  turnsUnprompted: number;
  /** Children started and not ended. */
  live: Set<RunNumber>;
  /** Children that wait for a slot, in spawn order. */
  queue: RunNumber[];
  batches: Map<string, Batch>;
  /** The announcement for the next turn. */
  pending: Announcement | null;
  /** Announcements that stay whole in the context, because their turn failed. */
  blocked: StepKey[];
  /** Tokens of the context at the newest reply, and bytes added since. */
  tokensKnown: number;
  bytesSince: number;
  /** At least as long as the longest result of a tool in its context. */
  longestResult: number;
  /** One of its results was cut: it sees `read_result`. */
  hasCutResult: boolean;
  /** True if the reply that ended its newest turn held a `<response>`, in a run that reports by tag. */
  tagged: boolean;
}

export interface Outcome {
  readonly status: RunStatus;
  readonly reason: string | null;
  readonly report: ReportKind;
}

export interface Run {
  readonly number: RunNumber;
  readonly id: string;
  readonly agent: string;
  readonly parent: AgentNumber;
  readonly mode: RunMode;
  readonly call: string | null;
  readonly timeoutMs: number;
  readonly announceEach: boolean;
  /** True if only the caller that asked for it reads its outcome. */
  readonly unannounced: boolean;
  /** The batch it is announced with, or null. */
  readonly batch: string | null;
  readonly erase: boolean;
  readonly typed: boolean;
  readonly createdAt: number;
  state: RunState;
  startedAt: number | null;
  endedAt: number | null;
  clock: Clock;
  reports: number;
  /** Its newest report was refused. */
  invalid: boolean;
  nudged: boolean;
  userMessages: number;
  tokens: number;
  cost: number;
  outcome: Outcome | null;
}

/** An effect that was started and not answered. */
export interface OpenEffect {
  readonly kind: "model" | "tool" | "read" | "erase" | "runner" | "tell";
  readonly agent: AgentNumber;
  attempt: number;
  /** False between a failed attempt and the next one. */
  underWay: boolean;
  /** How often the model call failed. */
  failures: number;
  /** The tool call it serves. */
  readonly call: string | null;
  readonly name: string | null;
  readonly safe: boolean;
  /** True if the user allowed the call. */
  readonly granted: boolean;
  /** The mark of the file that the user saw. */
  readonly seen: string | null;
  readonly compaction: boolean;
  readonly reserved: { readonly tokens: number; readonly cost: number } | null;
  /** What the session of an outside child has used, as it is booked. */
  used: { readonly tokens: number; readonly cost: number };
  /** When it is repeated, while it waits for that. */
  retryAt: number | null;
}

/**
 * A call that waits for the user's answer, or what an outside child asks under the name `ask`. Both are null if the
 * model calls of the whole tree wait.
 */
export interface Question {
  readonly agent: AgentNumber;
  readonly call: string | null;
  readonly ask: string | null;
  readonly name: string;
  readonly askedAt: number;
}

/** Model calls since the newest request from outside the tree. */
export interface RequestCalls {
  used: number;
  /** The open question whether it may continue. */
  question: StepKey | null;
  /** True if the user said no. */
  refused: boolean;
}

/** An aborted model call: its usage is an estimate until the provider reports it. */
export interface AbortedCall {
  readonly attempt: number;
  readonly at: number;
  readonly price: ModelPrice | null;
  /** What was booked. */
  readonly tokens: number;
  readonly cost: number;
  /** The run whose last call it was, with all that the run used; null for a root agent. */
  readonly run: { readonly number: RunNumber; readonly tokens: number; readonly cost: number } | null;
}

export interface TreeState {
  id: string;
  /** The sequence of the newest row. */
  seq: number;
  at: number;
  closed: boolean;
  settings: Settings | null;
  /** The rights of the process that executes the tree. */
  rights: ProcessRights | null;
  /** Calls that the user allowed for the whole tree. */
  grants: readonly PermissionRule[];
  catalog: Map<string, DefinitionFacts>;
  agents: Map<AgentNumber, AgentState>;
  runs: Map<RunNumber, Run>;
  /** Numbers of living agents and of runs in the state, by their ids. */
  numbers: Map<string, number>;
  runsCreated: number;
  /** How many runs hold a slot of the process, and how many wait for one. */
  running: number;
  queued: number;
  effects: Map<StepKey, OpenEffect>;
  questions: Map<StepKey, Question>;
  aborted: Map<StepKey, AbortedCall>;
  timers: Timers;
  ledger: { tokens: number; cost: number; reservedTokens: number; reservedCost: number };
  requestCalls: RequestCalls;
  /** Agents whose next model call waits for room in the budget. */
  budgetQueue: AgentNumber[];
  /** Limits that were reported as near. */
  neared: Set<string>;
}

export function stateEmpty(): TreeState {
  return {
    id: "",
    seq: 0,
    at: 0,
    closed: false,
    settings: null,
    rights: null,
    grants: [],
    catalog: new Map(),
    agents: new Map(),
    runs: new Map(),
    numbers: new Map(),
    runsCreated: 0,
    running: 0,
    queued: 0,
    effects: new Map(),
    questions: new Map(),
    aborted: new Map(),
    timers: new Map(),
    ledger: { tokens: 0, cost: 0, reservedTokens: 0, reservedCost: 0 },
    requestCalls: { used: 0, question: null, refused: false },
    budgetQueue: [],
    neared: new Set(),
  };
}

/** True while an effect runs or a run is queued: a restart must load the tree. */
export function stateBusy(state: TreeState): boolean {
  return state.effects.size > 0 || state.queued > 0;
}

/** What each fact does to the state. */
export type StateHandlers = {
  readonly [Type in FactType]: (state: TreeState, fact: FactOf<Type>, stamp: Stamp) => void;
};
