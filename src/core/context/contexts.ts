/**
 * The contexts of a tree: what each living agent's model is sent. They are folded from the same facts as the state, and
 * from their texts. A context is extended message by message with a rolling hash. The hash is recorded with every model
 * call, so that replay finds a context that differs in one byte.
 *
 * Invariants:
 *  1. A context is append-only within a turn. It is rewritten only between turns, after an internal turn or by
 *     compaction.
 *  2. A tool call and its result stay paired, and results are in call order.
 *  3. Messages are frozen: nothing that changes a request changes the context.
 *  4. The words of a child are in its parent's context inside a frame with that child's id, or as a JSON string of a
 *     result.
 */

import type { AgentNumber, RunNumber, StepKey } from "../values/ids.ts";
import { deepFrozen, type Json } from "../values/json.ts";
import type { Sha256 } from "../journal/journal.ts";
import type { ContextMessage, ToolCallPart, ToolResult, ToolSpec } from "../values/message.ts";
import type { FileFacts } from "../permissions/permissions.ts";
import { mapsToText } from "../values/map-json.ts";
import type { CutResult } from "../text/prompts/cut-results.ts";
import { type LastWords, NO_WORDS } from "../reports/findings.ts";
import type { OutsideMessage } from "./outside-texts.ts";
import type { RunTexts } from "./run-texts.ts";
import { type Toolset, toolsetOf } from "./toolset.ts";

export interface AgentContext {
  readonly system: string;
  readonly tools: Toolset;
  readonly model: string;
  messages: ContextMessage[];
  /** The last words of a child in messages that a summary replaced. */
  earlierWords: LastWords;
  /**
   * Rolling hash over tools, model, system prompt and messages, at the newest model call; null before the first call.
   */
  hash: string | null;
  /** Messages appended since then, which the next call hashes together. The array is never changed. */
  unhashed: readonly ContextMessage[];
  /** The context when the current turn began. A rewrite goes back to it. */
  turnStart: Pick<AgentContext, "hash" | "unhashed"> & {
    readonly length: number;
    readonly last: ContextMessage | undefined;
  };
  /** Calls of the newest reply and their results so far. */
  open: OpenCalls | null;
  /** Runs of the announcement that the turn placed. A short line will replace it. */
  announced: readonly RunTexts[];
  /** Messages that entered since the turn began, in order; null for the announcement. */
  joined: (string | null)[];
  /** Runs that the current turn started, and those of them that its newest reply started. */
  started: RunNumber[];
  startedNow: RunNumber[];
  /** User-facing messages that the current turn took. */
  relays: StepKey[];
  /** The newest results that were cut. A summary that replaces them names them. */
  cutResults: readonly CutResult[];
  /** The open model call asks for a summary. */
  compacting: boolean;
  /** The provider's message when the newest model call failed; null once one succeeded. */
  failure: string | null;
}

interface OpenCalls {
  readonly calls: readonly ToolCallPart[];
  readonly results: Map<string, ToolResult>;
  /** What the edge found about the files that the calls name, by call. */
  readonly files?: ReadonlyMap<string, FileFacts>;
}

export interface WaitingMessage {
  readonly to: AgentNumber;
  readonly text: string;
  /** True unless it is what a user said. */
  readonly internal: boolean;
}

export interface Contexts {
  readonly agents: Map<AgentNumber, AgentContext>;
  /** What the caller gave for all tools of the tree. No model sees it. */
  data?: Json | undefined;
  /** Messages that wait in inboxes, framed as the model will see them. */
  readonly messages: Map<StepKey, WaitingMessage>;
  /** Runs whose outcome is not in their parent's context yet. */
  readonly runs: Map<RunNumber, RunTexts>;
  readonly announcements: Map<AgentNumber, { runs: RunNumber[]; stragglers: RunNumber[] }>;
  /** User-facing messages that have not reached the user. They are relayed if the agent does not present them. */
  readonly relays: Map<StepKey, { readonly name: string; readonly text: string }>;
  /** The agent and call of an open effect. */
  readonly effects: Map<StepKey, { readonly agent: AgentNumber; readonly call: string | null }>;
  /** Messages on their way to outside children. */
  readonly told: Map<StepKey, { readonly agent: AgentNumber; readonly message: OutsideMessage }>;
}

export function contextsEmpty(): Contexts {
  return {
    agents: new Map(),
    messages: new Map(),
    runs: new Map(),
    announcements: new Map(),
    relays: new Map(),
    effects: new Map(),
    told: new Map(),
  };
}

export function contextNew(system: string, tools: Toolset, model: string): AgentContext {
  return {
    system,
    tools,
    model,
    messages: [],
    earlierWords: NO_WORDS,
    hash: null,
    unhashed: NONE,
    turnStart: { length: 0, hash: null, unhashed: NONE, last: undefined },
    open: null,
    announced: [],
    joined: [],
    started: [],
    startedNow: [],
    relays: [],
    cutResults: NONE,
    compacting: false,
    failure: null,
  };
}

const NONE: readonly never[] = [];

/** The hash of what the model is sent now. It must be recorded, because later hashes depend on this one. */
export function contextHash(context: AgentContext, sha256: Sha256): string {
  const { hash, unhashed, tools, model, system } = context;
  if (hash !== null && unhashed.length === 0) return hash;
  const before = hash ?? JSON.stringify([tools.hash, model, system]);
  context.hash = sha256(before + JSON.stringify(unhashed));
  context.unhashed = NONE;
  return context.hash;
}

/** Between user messages that become one. */
const USER_JOINT = "\n\n";

/** Appends a message. Two user messages in a row become one, because providers require roles to alternate. */
export function contextAppend(context: AgentContext, message: ContextMessage): void {
  const last = context.messages.at(-1);
  if (message.role === "user" && last?.role === "user") {
    const text = last.text + USER_JOINT + message.text;
    context.messages[context.messages.length - 1] = deepFrozen<ContextMessage>({ role: "user", text });
  } else {
    context.messages.push(deepFrozen(message));
  }
  context.unhashed = [...context.unhashed, message];
}

export function contextBeginTurn(context: AgentContext): void {
  const { messages, hash, unhashed } = context;
  context.turnStart = { length: messages.length, hash, unhashed, last: messages.at(-1) };
  context.joined = [];
  context.started = [];
}

/** Copies all but system prompt, tools and model into a fresh context. */
export function contextCopy(fresh: AgentContext, old: AgentContext): void {
  const { system, tools, model } = fresh;
  const { length, last } = old.turnStart;
  const earlier = last === undefined ? [] : [...old.messages.slice(0, length - 1), last];
  const { hash } = fresh;
  const turnStart = { length, hash, unhashed: earlier, last };
  const unhashed = earlier.concat(old.messages.slice(Math.max(0, length - 1)));
  Object.assign(fresh, old, { system, tools, model, turnStart, hash, unhashed });
}

/** The messages before the current turn, without what it added to the last of them. */
export function contextEarlier({ messages, turnStart }: AgentContext): ContextMessage[] {
  const earlier = messages.slice(0, turnStart.length);
  if (turnStart.last !== undefined) earlier[turnStart.length - 1] = turnStart.last;
  return earlier;
}

/** The text that the current turn added to a user message before it, or "". */
export function contextAdded({ messages, turnStart }: AgentContext): string {
  const now = messages[turnStart.length - 1];
  if (turnStart.last?.role !== "user" || now?.role !== "user") return "";
  return now.text.slice(turnStart.last.text.length + USER_JOINT.length);
}

/** Takes the context back to where the turn began. */
export function contextRewindTurn(context: AgentContext): void {
  const { length, hash, unhashed, last } = context.turnStart;
  context.messages.length = length;
  if (last !== undefined) context.messages[length - 1] = last;
  context.hash = hash;
  context.unhashed = unhashed;
}

/** A context in a snapshot: `tools` is an index into `toolLists`. */
type PlainContext = Omit<AgentContext, "tools"> & { readonly tools: number };

export interface PlainContexts extends Omit<Contexts, "agents"> {
  readonly agents: Map<AgentNumber, PlainContext>;
  readonly toolLists: readonly (readonly ToolSpec[])[];
}

/** JSON text of the contexts. Lists of tools that agents share are written once. */
export function contextsToText(contexts: Contexts): string {
  const toolLists: (readonly ToolSpec[])[] = [];
  const lists = new Map<string, number>();
  const agents = new Map<AgentNumber, PlainContext>();
  for (const [number, context] of contexts.agents) {
    const { hash, specs } = context.tools;
    const index = lists.get(hash) ?? lists.size;
    if (index === lists.size) toolLists.push(specs);
    lists.set(hash, index);
    agents.set(number, { ...context, tools: index });
  }
  return mapsToText({ ...contexts, agents, toolLists });
}

export function contextsFromPlain({ toolLists, ...plain }: PlainContexts, sha256: Sha256): Contexts {
  const toolsets = toolLists.map((specs) => toolsetOf(specs, sha256));
  const agents = new Map<AgentNumber, AgentContext>();
  for (const [number, context] of plain.agents) {
    context.messages.forEach(deepFrozen);
    agents.set(number, { ...context, tools: toolsets[context.tools] ?? toolsetOf([], sha256) });
  }
  return { ...plain, agents };
}

/** Removes an agent that is gone, with the messages that waited for it. */
export function contextDrop(contexts: Contexts, number: AgentNumber): void {
  for (const key of contexts.agents.get(number)?.relays ?? []) contexts.relays.delete(key);
  contexts.agents.delete(number);
  contexts.announcements.delete(number);
  for (const [key, { agent }] of contexts.effects) if (agent === number) contexts.effects.delete(key);
  for (const [key, { agent }] of contexts.told) if (agent === number) contexts.told.delete(key);
  for (const [key, message] of contexts.messages) {
    if (message.to !== number) continue;
    contexts.messages.delete(key);
    contexts.relays.delete(key);
  }
}
