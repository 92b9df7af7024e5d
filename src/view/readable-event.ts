/**
 * Readable events: what a committed step changed in a tree, in the words of the documentation. fold-event.ts makes
 * them. The lines of `errand run --json` are these objects, so a type or a field may be added, but none is renamed or
 * removed.
 *
 * Times (`at`) are milliseconds since 1970; money is micro-dollars; `run`, `agent` and `tree` are ids that other
 * commands take.
 */

import type { Json } from "../core/values/json.ts";
import type { RunMode, RunState, RunStatus } from "../core/journal/journal.ts";
import type { ChannelMessageKind } from "./channel-message.ts";

/** The fields of every event about a run. */
export interface RunNamed {
  readonly run: string;
  /** Its label, else the beginning of its task. */
  readonly name: string;
  readonly definition: string;
}

/** The fields of every event about what an agent does. */
export interface AgentNamed {
  readonly agent: string;
  /** The run's name, or the definition's for the root. */
  readonly name: string;
}

/** The root agent of the tree exists. A fork opens its root a second time, with the id and model of the new tree. */
export interface AgentOpened {
  readonly type: "agent-opened";
  readonly tree: string;
  readonly agent: string;
  readonly definition: string;
  readonly model: string;
}

/** A child was made for a task. It is queued. */
export interface RunCreated extends RunNamed {
  readonly type: "run-created";
  /** The child. */
  readonly agent: string;
  /** The agent that gave the task. */
  readonly parent: string;
  readonly mode: RunMode;
}

/** The run got its slot: its clock runs from here. */
export interface RunStarted extends RunNamed {
  readonly type: "run-started";
}

/** The run waits for children or for an answer, or goes on. */
export interface RunStateChanged extends RunNamed {
  readonly type: "run-state-changed";
  readonly state: RunState;
}

/** What an outside child is doing, in its own words. */
export interface RunProgress extends RunNamed {
  readonly type: "run-progress";
  /** What a child that is executed outside says that it does now. */
  readonly text: string;
}

/** The child handed in a report. The last one before the end is the run's result. */
export interface RunReported extends RunNamed {
  readonly type: "run-reported";
}

/** The run has ended, in one of the ways of `RunStatus`. */
export interface RunEnded extends RunNamed {
  readonly type: "run-ended";
  readonly status: RunStatus;
  readonly reason: string | null;
  /** Why it did not end well, in words. */
  readonly error: string | null;
  /** How its report came about. */
  readonly report: string;
  readonly elapsedMs: number;
  readonly tokens: number;
  readonly cost: number;
}

/** An agent begins to work. */
export interface TurnStarted extends AgentNamed {
  readonly type: "turn-started";
  /** True: the turn is about an announcement, not about a message of the user. */
  readonly internal: boolean;
}

/** The agent's turn has ended. */
export interface TurnEnded extends AgentNamed {
  readonly type: "turn-ended";
  readonly outcome: "done" | "failed" | "cancelled";
  readonly reason: string | null;
  readonly error: string | null;
}

/** A message of the root agent for its user, of the kinds of rule D13. */
export interface MessageSent extends AgentNamed {
  readonly type: "message";
  /** The id under which a channel gets the same message. */
  readonly id: string;
  readonly kind: ChannelMessageKind;
  readonly text: string;
}

/** What a model call used, as the provider or an estimate says. When an estimate is corrected: the difference. */
export interface UsageBooked extends AgentNamed {
  readonly type: "usage";
  readonly input: number;
  readonly output: number;
  readonly cost: number;
  readonly estimated: boolean;
}

/** A model call failed and will be repeated. */
export interface ModelRetrySet extends AgentNamed {
  readonly type: "model-retry";
  /** The number of the next attempt. */
  readonly attempt: number;
  readonly retryAt: number;
  /** The provider's message. */
  readonly error: string | null;
}

/** An agent calls a tool. */
export interface ToolStarted extends AgentNamed {
  readonly type: "tool-started";
  readonly call: string;
  readonly tool: string;
  /** The argument that says best what the call works on. */
  readonly about: string;
}

/** A tool call has its result. */
export interface ToolEnded extends AgentNamed {
  readonly type: "tool-ended";
  readonly call: string;
  readonly tool: string;
  readonly failed: boolean;
}

/** A call waits for the user. `errand answer` and `Errand.answer` take its id. */
export interface QuestionAsked extends AgentNamed {
  readonly type: "question-asked";
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
}

/** The user answered a question. */
export interface QuestionAnswered extends AgentNamed {
  readonly type: "question-answered";
  readonly id: string;
  readonly allow: boolean;
}

/** Something that happened in a tree, with its time. */
export type ReadableEvent = { readonly at: number } & (
  | AgentOpened
  | RunCreated
  | RunStarted
  | RunStateChanged
  | RunProgress
  | RunReported
  | RunEnded
  | TurnStarted
  | TurnEnded
  | MessageSent
  | UsageBooked
  | ModelRetrySet
  | ToolStarted
  | ToolEnded
  | QuestionAsked
  | QuestionAnswered
);

/** An event with its place in the journal, from which a reader can continue later. */
export type PlacedEvent = ReadableEvent & { readonly cursor: string };

/** The events of one step with their places. */
export function placedEvents(seq: number, events: readonly ReadableEvent[]): PlacedEvent[] {
  return events.map((event, index) => ({ ...event, cursor: `${seq}.${index}` }));
}

/** A piece of what an agent is saying. It is not recorded, so it has no cursor. */
export interface TextPiece {
  readonly type: "text";
  readonly agent: string;
  /** The run's name, or the definition's for the root. */
  readonly name: string;
  readonly text: string;
}

/** The whole tree is idle. The last event of a task. */
export interface Rest {
  readonly type: "rest";
  readonly tree: string;
}

/** What a stream gives: events of the journal, live text, and the rest at the end. */
export type StreamEvent = PlacedEvent | TextPiece | Rest;
