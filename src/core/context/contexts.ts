/**
 * The contexts of a tree: what each living agent's model is sent, folded from the same facts as the state, and from their texts.
 * A context is extended message by message with a rolling hash, never rebuilt; the hash is recorded with every model call, so that
 * replay can tell a context that differs in one byte.
 *
 * Invariants:
 *  1. Append-only within a turn; rewritten only between turns, after an internal turn or by compaction.
 *  2. A tool call and its result stay paired, and results stand in call order.
 *  3. Messages are frozen: a model gets them as they are, and cannot change the context by changing its request.
 *  4. Whatever a child wrote stands in its parent's context inside a frame of that child's id, or as a JSON string of a result.
 */

import type { AgentNumber, RunNumber, StepKey } from "../values/ids.ts";
import { deepFrozen } from "../values/json.ts";
import type { Sha256 } from "../journal/journal.ts";
import type { ContextMessage, ToolCallPart, ToolResult, ToolSpec } from "../values/message.ts";
import type { FileFacts } from "../permissions/permissions.ts";
import { mapsToText } from "../values/map-json.ts";
import type { CutResult } from "../text/prompts/cut-results.ts";
import { type LastWords, NO_WORDS } from "../reports/findings.ts";
import type { RunTexts } from "./run-texts.ts";
import { type Toolset, toolsetOf } from "./toolset.ts";

export interface AgentContext {
  readonly system: string;
  readonly tools: Toolset;
  readonly model: string;
  messages: ContextMessage[];
  /** The last words of a child in messages that a summary replaced. */
  earlierWords: LastWords;
  /** Rolling hash over tools, model, system prompt and messages, at the newest model call; null before the first. */
  hash: string | null;
  /** Messages appended since then: the next call hashes them together. The array is never changed. */
  unhashed: readonly ContextMessage[];
  /** Where the turn under way began: a rewrite goes back to it. */
  turnStart: Pick<AgentContext, "hash" | "unhashed"> & {
    readonly length: number;
    readonly last: ContextMessage | undefined;
  };
  /** Calls of the newest reply and the results that have come so far. */
  open: OpenCalls | null;
  /** The announcement that the turn placed, to be replaced by its short line. */
  announced: readonly RunTexts[];
  /** Messages that joined since then, in order; null where an announcement was placed. */
  joined: (string | null)[];
  /** Runs that the turn under way started. */
  started: RunNumber[];
  /** User-facing messages that the turn under way took. */
  relays: StepKey[];
  /** The newest results that were too long for it: a summary that replaces them names them. */
  cutResults: readonly CutResult[];
  /** The model call under way asks for a summary. */
  compacting: boolean;
  /** What the provider said when the newest model call failed; null once one succeeded. */
  failure: string | null;
}

interface OpenCalls {
  readonly calls: readonly ToolCallPart[];
  readonly results: Map<string, ToolResult>;
  /** What the edge knew of the files that they name, by call. */
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
  /** Texts of messages that wait in inboxes, framed as the model will see them. */
  readonly messages: Map<StepKey, WaitingMessage>;
  /** Runs whose outcome is not in their parent's context yet. */
  readonly runs: Map<RunNumber, RunTexts>;
  readonly announcements: Map<AgentNumber, { runs: RunNumber[]; stragglers: RunNumber[] }>;
  /** User-facing messages that have not reached the user: they are relayed if the agent does not present them. */
  readonly relays: Map<StepKey, { readonly name: string; readonly text: string }>;
  /** The agent and call that an effect under way serves. */
  readonly effects: Map<StepKey, { readonly agent: AgentNumber; readonly call: string | null }>;
}

export function contextsEmpty(): Contexts {
  return {
    agents: new Map(),
    messages: new Map(),
    runs: new Map(),
    announcements: new Map(),
    relays: new Map(),
    effects: new Map(),
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
    relays: [],
    cutResults: NONE,
    compacting: false,
    failure: null,
  };
}

const NONE: readonly never[] = [];

/** The hash of what the model is sent now. It must be recorded: later hashes depend on when it was asked for. */
export function contextHash(context: AgentContext, sha256: Sha256): string {
  const { hash, unhashed, tools, model, system } = context;
  if (hash !== null && unhashed.length === 0) return hash;
  const before = hash ?? JSON.stringify([tools.hash, model, system]);
  context.hash = sha256(before + JSON.stringify(unhashed));
  context.unhashed = NONE;
  return context.hash;
}

/** Joins user messages that become one. */
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

/** Remembers where a turn begins. */
export function contextBeginTurn(context: AgentContext): void {
  const { messages, hash, unhashed } = context;
  context.turnStart = { length: messages.length, hash, unhashed, last: messages.at(-1) };
  context.joined = [];
  context.started = [];
}

/** Copies everything but system prompt, tools and model into a fresh context. */
export function contextCopy(fresh: AgentContext, old: AgentContext): void {
  const { system, tools, model } = fresh;
  const { length, last } = old.turnStart;
  const earlier = last === undefined ? [] : [...old.messages.slice(0, length - 1), last];
  const { hash } = fresh;
  const turnStart = { length, hash, unhashed: earlier, last };
  const unhashed = earlier.concat(old.messages.slice(Math.max(0, length - 1)));
  Object.assign(fresh, old, { system, tools, model, turnStart, hash, unhashed });
}

/** The messages before the turn under way, without what it added to the last of them. */
export function contextEarlier({ messages, turnStart }: AgentContext): ContextMessage[] {
  const earlier = messages.slice(0, turnStart.length);
  if (turnStart.last !== undefined) earlier[turnStart.length - 1] = turnStart.last;
  return earlier;
}

/** What the turn under way added to a user message before it, or "". */
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

/** Forgets an agent that is gone, with all that waited for it. */
export function contextDrop(contexts: Contexts, number: AgentNumber): void {
  for (const key of contexts.agents.get(number)?.relays ?? []) contexts.relays.delete(key);
  contexts.agents.delete(number);
  contexts.announcements.delete(number);
  for (const [key, message] of contexts.messages) {
    if (message.to !== number) continue;
    contexts.messages.delete(key);
    contexts.relays.delete(key);
  }
}
