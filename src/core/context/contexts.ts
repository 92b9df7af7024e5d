/**
 * The contexts of a tree: what each living agent's model is sent, folded from the same facts as the state, and from their texts.
 * A context is extended message by message with a rolling hash, never rebuilt; the hash is recorded with every model call, so that
 * replay can tell a context that differs in one byte.
 *
 * Invariants:
 *  1. Append-only within a turn; rewritten only between turns, after an internal turn or by compaction.
 *  2. A tool call and its result stay paired, and results stand in call order.
 *  3. Whatever a child wrote stands in its parent's context inside a frame of that child's id, or as a JSON string of a result.
 */

import type { AgentNumber, RunNumber, StepKey } from "../ids.ts";
import type { Sha256 } from "../journal.ts";
import type { ContextMessage, ToolCallPart, ToolResult, ToolSpec } from "../message.ts";
import type { FileFacts } from "../permissions/permissions.ts";
import { plainToText } from "../plain-text.ts";
import { type LastSaid, NOTHING_SAID, type RunTexts } from "./run-texts.ts";
import { type Toolset, toolsetOf } from "./toolset.ts";

export interface AgentContext {
  readonly system: string;
  readonly tools: Toolset;
  readonly model: string;
  messages: ContextMessage[];
  /** What a child said, and its tools, last in messages that a summary stands for now. */
  before: LastSaid;
  /** Rolling hash over tools, model, system prompt and messages, as of the newest model call; null before the first. */
  hash: string | null;
  /** Messages that were appended since: they are hashed together by the next call. Never changed in place. */
  unhashed: readonly ContextMessage[];
  /** Where the turn under way began: what a rewrite goes back to. */
  mark: Pick<AgentContext, "hash" | "unhashed"> & {
    readonly length: number;
    readonly last: ContextMessage | undefined;
  };
  /** Calls of the newest reply and the results that have come so far. */
  open: OpenCalls | null;
  /** The announcement that the turn placed, to be replaced by its short line. */
  announced: readonly RunTexts[];
  /** Messages that joined since the mark, in order; null where an announcement was placed. */
  joined: (string | null)[];
  /** Runs that the turn under way started. */
  started: RunNumber[];
  /** User-facing messages that the turn under way took. */
  relays: StepKey[];
  /** True while the model call under way is asked for a summary. */
  compacting: boolean;
  /** What the provider said when the newest model call failed; null once one succeeded. */
  failure: string | null;
}

interface OpenCalls {
  readonly calls: readonly ToolCallPart[];
  readonly results: Map<string, ToolResult>;
  /** What was known of the files that they name when they were judged, by call. */
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
  /** User-facing messages that have not reached the user, for the case that the agent does not present them. */
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
    before: NOTHING_SAID,
    hash: null,
    unhashed: NONE,
    mark: { length: 0, hash: null, unhashed: NONE, last: undefined },
    open: null,
    announced: [],
    joined: [],
    started: [],
    relays: [],
    compacting: false,
    failure: null,
  };
}

const NONE: readonly never[] = [];

/** The hash of all that the model is sent now. Whoever asks has it recorded: the chain depends on when that is. */
export function contextHash(context: AgentContext, sha256: Sha256): string {
  const { hash, unhashed, tools, model, system } = context;
  if (hash !== null && unhashed.length === 0) return hash;
  const before = hash ?? JSON.stringify([tools.hash, model, system]);
  context.hash = sha256(before + JSON.stringify(unhashed));
  context.unhashed = NONE;
  return context.hash;
}

/** Stands between user messages that became one. */
const USER_JOINT = "\n\n";

/** Appends a message. Two user messages in a row become one, because providers want roles to alternate. */
export function contextAppend(context: AgentContext, message: ContextMessage): void {
  const last = context.messages.at(-1);
  if (message.role === "user" && last?.role === "user") {
    context.messages[context.messages.length - 1] = { role: "user", text: last.text + USER_JOINT + message.text };
  } else {
    context.messages.push(message);
  }
  context.unhashed = [...context.unhashed, message];
}

/** Remembers where a turn begins. */
export function contextMark(context: AgentContext): void {
  const { messages, hash, unhashed } = context;
  context.mark = { length: messages.length, hash, unhashed, last: messages.at(-1) };
  context.joined = [];
  context.started = [];
}

/** Gives a context that is made anew all that an earlier one holds, with what its turn under way has open. */
export function contextCarry(fresh: AgentContext, old: AgentContext): void {
  const { system, tools, model } = fresh;
  const { length, last } = old.mark;
  const earlier = last === undefined ? [] : [...old.messages.slice(0, length - 1), last];
  const { hash } = fresh;
  const mark = { length, hash, unhashed: earlier, last };
  const unhashed = earlier.concat(old.messages.slice(Math.max(0, length - 1)));
  Object.assign(fresh, old, { system, tools, model, mark, hash, unhashed });
}

/** The messages before the turn under way, without what it added to the last of them. */
export function contextEarlier({ messages, mark }: AgentContext): ContextMessage[] {
  const earlier = messages.slice(0, mark.length);
  if (mark.last !== undefined) earlier[mark.length - 1] = mark.last;
  return earlier;
}

/** What the turn under way added to a user message that stood before it, or nothing. */
export function contextAdded({ messages, mark }: AgentContext): string {
  const now = messages[mark.length - 1];
  if (mark.last?.role !== "user" || now?.role !== "user") return "";
  return now.text.slice(mark.last.text.length + USER_JOINT.length);
}

/** Takes the context back to where the turn began. */
export function contextRewind(context: AgentContext): void {
  const { length, hash, unhashed, last } = context.mark;
  context.messages.length = length;
  if (last !== undefined) context.messages[length - 1] = last;
  context.hash = hash;
  context.unhashed = unhashed;
}

/** A context as its text is read: its tools are the place of their list in `toolLists`. */
type PlainContext = Omit<AgentContext, "tools"> & { readonly tools: number };

export interface PlainContexts extends Omit<Contexts, "agents"> {
  readonly agents: Map<AgentNumber, PlainContext>;
  readonly toolLists: readonly (readonly ToolSpec[])[];
}

/** JSON text of the contexts. A thousand children of one definition have the same tools, which are written once. */
export function contextsToText(contexts: Contexts): string {
  const lists = new Map<string, number>();
  const places = new Map<Toolset, number>();
  const placeOf = (tools: Toolset): number => {
    const list = plainToText(tools.specs);
    const place = lists.get(list) ?? lists.size;
    lists.set(list, place);
    places.set(tools, place);
    return place;
  };
  const agents = new Map<AgentNumber, PlainContext>();
  for (const [number, context] of contexts.agents) {
    agents.set(number, { ...context, tools: places.get(context.tools) ?? placeOf(context.tools) });
  }
  const others = plainToText({ ...contexts, agents });
  return `${others.slice(0, -1)},"toolLists":[${[...lists.keys()].join(",")}]}`;
}

export function contextsFromPlain({ toolLists, ...plain }: PlainContexts, sha256: Sha256): Contexts {
  const toolsets = toolLists.map((specs) => toolsetOf(specs, sha256));
  const agents = new Map<AgentNumber, AgentContext>();
  for (const [number, context] of plain.agents)
    agents.set(number, { ...context, tools: toolsets[context.tools] ?? toolsetOf([], sha256) });
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
