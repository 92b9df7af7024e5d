/**
 * The control state of a tree: the fold of its facts and nothing else.
 *
 * Invariants:
 *  1. It holds no texts. What a model reads is in the contexts (context.ts), folded from the same rows.
 *  2. It does not grow with history: agents leave it when they close, runs when their outcome is in the parent's context.
 *  3. Only `apply` changes it, in place: it is used linearly.
 */

import type { DefinitionFacts, ModelPrice } from "./definition.ts";
import type { AgentKind, ReportPlace } from "./event.ts";
import type { AgentNumber, PostId, RunNumber, StepKey } from "./ids.ts";
import type { ReportKind, RunMode, RunState, RunStatus } from "./journal.ts";
import type { Settings } from "./limits.ts";
import type { PermissionRule } from "./permissions/permissions.ts";
import type { ProcessRights } from "./permissions/process-rights.ts";
import { plainToText } from "./plain-text.ts";
import { type Timers, timersEmpty, timersFrom } from "./timers.ts";

export type MessageKind = "user" | "system" | "user-facing" | "steer";

export interface InboxMessage {
  readonly key: StepKey;
  readonly kind: MessageKind;
  readonly silent: boolean;
  /** The post it came by, whose sender may wait for the turn. */
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
  /** The effect under way for it, the run or the user's answer it waits for; none once it is answered. */
  effect: StepKey | null;
  run: RunNumber | null;
  question: StepKey | null;
  /** True for a final report: it is answered when all other calls of its reply are. */
  readonly final: boolean;
}

export interface Turn {
  readonly number: number;
  iterations: number;
  /** The announcement it placed. */
  announcement: StepKey | null;
  posts: PostId[];
  /** The model call under way. */
  model: StepKey | null;
  /** Calls of the newest reply that are not answered yet. */
  calls: Map<string, OpenCall>;
  /** True if the newest reply reported, and if one of its calls failed, was refused or has an unknown outcome. */
  reported: boolean;
  failed: boolean;
  /** The newest report of the turn: it answers the posts of the turn. */
  report: ReportPlace | null;
  /** User-facing messages it took, which must reach the user. */
  relays: StepKey[];
  /** True once something was sent to the channel after the newest user-facing message was taken. */
  sent: boolean;
  /** The nudge whose answer is awaited, if the newest model call follows one. */
  nudge: "report" | "user-message" | null;
  nudgedUser: boolean;
  compacted: boolean;
}

/** Background runs of one parent that are announced together. */
export interface Batch {
  readonly key: string;
  /** The turn that started the newest of its runs: it is not complete before that turn has ended. Null if none did. */
  turn: number | null;
  /** Members that have not ended. */
  open: Set<RunNumber>;
  /** Members that have ended and wait to be announced. */
  ended: RunNumber[];
  /** True once its barrier has passed: every later end is announced by itself. */
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
  /** What it is made from, with no more rights than its parent has now; and with those it was given, if they are more. */
  definition: DefinitionFacts;
  granted: DefinitionFacts | null;
  readonly maxIterations: number;
  inbox: InboxMessage[];
  turn: Turn | null;
  turns: number;
  /** Turns in a row that were caused by other agents alone. */
  turnsUnprompted: number;
  /** Children started and not ended. */
  live: Set<RunNumber>;
  /** Children that wait for a slot, in spawn order. */
  queue: RunNumber[];
  batches: Map<string, Batch>;
  /** The announcement that waits for a turn, or null. */
  pending: Announcement | null;
  /** Announcements that are whole in the context because their turn failed. */
  blocked: StepKey[];
  /** Tokens of the context at the newest reply, and bytes added since. */
  tokensKnown: number;
  bytesSince: number;
  /** At least as long as the longest result of a tool in its context. */
  longestResult: number;
  /** True if its transcript holds an assistant text that could be salvaged, or a tool result. */
  said: boolean;
  toolEnded: boolean;
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
  /** The batch it is announced with, or null. */
  readonly batch: string | null;
  readonly erase: boolean;
  readonly typed: boolean;
  readonly createdAt: number;
  state: RunState;
  startedAt: number | null;
  endedAt: number | null;
  /** Time its clock has run, and since when it runs on (null while it stands still). */
  clockUsed: number;
  clockSince: number | null;
  reports: number;
  /** True while its newest report is one that could not be taken. */
  invalid: boolean;
  nudged: boolean;
  userMessages: number;
  tokens: number;
  cost: number;
  outcome: Outcome | null;
}

/** An effect that was started and not answered. */
export interface OpenEffect {
  readonly kind: "model" | "tool" | "read" | "erase";
  readonly agent: AgentNumber;
  attempt: number;
  /** False once its newest attempt has failed, until it is repeated. */
  underWay: boolean;
  /** How often a model call failed and was set to be tried again. */
  failures: number;
  /** The tool call it serves. */
  readonly call: string | null;
  readonly name: string | null;
  readonly safe: boolean;
  /** True if the user allowed the call. */
  readonly granted: boolean;
  /** What the user was shown of the file that the call would change, or null. */
  readonly seen: string | null;
  readonly compaction: boolean;
  readonly reserved: { readonly tokens: number; readonly cost: number } | null;
  /** Set while it waits to be repeated. */
  retryAt: number | null;
}

/** A call that waits for the user's answer; without a call, the model calls of the whole tree. */
export interface Question {
  readonly agent: AgentNumber;
  readonly call: string | null;
  readonly name: string;
  readonly askedAt: number;
}

/** Model calls since the newest request from outside the tree. */
export interface RequestCalls {
  used: number;
  /** The question whether it may go on, while it is open. */
  question: StepKey | null;
  /** True if the user said no. */
  refused: boolean;
}

/** A model call that was given up and booked at an estimate, until its wire tells what it used. */
export interface AbortedCall {
  readonly attempt: number;
  readonly at: number;
  readonly price: ModelPrice | null;
  /** What was booked for it. */
  readonly tokens: number;
  readonly cost: number;
  /** The run that it was the last call of, with what that used in all; null for a root agent. */
  readonly run: { readonly number: RunNumber; readonly tokens: number; readonly cost: number } | null;
}

export interface Ledger {
  tokens: number;
  cost: number;
  reservedTokens: number;
  reservedCost: number;
}

export interface TreeState {
  id: string;
  /** The sequence of the newest row. */
  seq: number;
  at: number;
  closed: boolean;
  settings: Settings | null;
  /** Those of the process that executes; null before one of this revision did. */
  rights: ProcessRights | null;
  /** Calls that the user allowed for the whole tree. */
  grants: readonly PermissionRule[];
  catalog: Map<string, DefinitionFacts>;
  agents: Map<AgentNumber, AgentState>;
  runs: Map<RunNumber, Run>;
  /** Numbers of living agents and of runs in the state, by their ids. */
  numbers: Map<string, number>;
  runsCreated: number;
  /** Runs that hold a slot of the process, and runs that wait for one. */
  running: number;
  queued: number;
  effects: Map<StepKey, OpenEffect>;
  questions: Map<StepKey, Question>;
  aborted: Map<StepKey, AbortedCall>;
  timers: Timers;
  ledger: Ledger;
  requestCalls: RequestCalls;
  /** Agents whose next model call waits for room in the budget. */
  budgetQueue: AgentNumber[];
  /** Limits that were said to be near. */
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
    timers: timersEmpty(),
    ledger: { tokens: 0, cost: 0, reservedTokens: 0, reservedCost: 0 },
    requestCalls: { used: 0, question: null, refused: false },
    budgetQueue: [],
    neared: new Set(),
  };
}

/** JSON text of the state: for snapshots, and for comparing two folds byte for byte. */
export function stateToText(state: TreeState): string {
  const moments = [...state.timers.moments].toSorted((a, b) => (a[0] < b[0] ? -1 : 1));
  return plainToText({ ...state, timers: moments });
}

/** The state as its text is read. */
export type PlainState = Omit<TreeState, "timers"> & { readonly timers: readonly (readonly [string, number])[] };

export function stateFromPlain(plain: PlainState): TreeState {
  return { ...plain, timers: timersFrom(plain.timers) };
}

/** True while something is under way or queued that a restart must look at. */
export function stateBusy(state: TreeState): boolean {
  return state.effects.size > 0 || state.queued > 0;
}
