/** The public face of a runtime: agents, messages, runs and events, in the words of the documentation. */

import type { Channel } from "../contracts/channel.ts";
import type { RunQuery, TreeQuery, TreeRecord } from "../contracts/store.ts";
import type { ReplayReport } from "../core/journal/replay.ts";
import type { DelegationRecord } from "../core/runs/delegation-record.ts";
import type { AiSdkTools } from "../host-tools/ai-sdk-tools.ts";
import type { HostTools, HostToolsOptions } from "../host-tools/host-tools.ts";
import { type Agent } from "./agent.ts";
import { type OpenQuestion } from "./messages/open-questions.ts";
import type { ChannelState } from "./messages/channel-line.ts";
import { type TreeEvent } from "../view/tree-event.ts";
import type { ToldRun } from "./runs.ts";
import type { Reply } from "./messages/turn-outcome.ts";
import type { OutputSchema } from "./definitions/output-schema.ts";
import type { PlacedEvent, TextPiece } from "../view/readable-event.ts";
import type { EventStream } from "./tasks/event-stream.ts";
import type { OutputOf, StreamOptions, TaskOptions, TaskResult } from "./tasks/task-options.ts";

export type { TreeEvent } from "../view/tree-event.ts";

/** What a conversation is opened with. */
export interface OpenAgentOptions {
  /**
   * Makes the conversation idempotent: the same key gives the same conversation, in this process or a later one. The
   * same key with another agent, first message or `data` is refused (`id-reused`).
   */
  readonly key?: string;
  /**
   * Any JSON up to 64 KiB, for your tools: they get it as `context.data`, in every agent below and after a restart. It
   * is recorded, and no model sees it.
   */
  readonly data?: unknown;
  /** Name of the definition it is made from. Default: `orchestrator`. */
  readonly agent?: string;
  /** `foreground` speaks to a user through its channel. Default: `foreground`. */
  readonly kind?: "foreground" | "background";
  /**
   * Where its messages to the user go. Once the conversation has worked and rests, only the agent that you get keeps
   * the channel: hold it to hear more. A message without a channel stays in the outbox until one is attached.
   */
  readonly channel?: Channel;
}

/** A live piece of text that an agent is saying. Not recorded. */
export interface TextDelta {
  readonly tree: string;
  readonly agent: string;
  readonly text: string;
}

/** A conversation that has begun. */
export interface Started {
  readonly agent: Agent;
  /** The id of its first message: after a restart the answer is asked for again under it. */
  readonly id: string;
  /** Waits for the answer to its first message, as `postAndAwait` does. */
  reply(options?: { readonly timeoutMs?: number }): Promise<Reply>;
}

/** A user's answer to what an outside child asks: words, one of its choices if it gave any. */
export interface TextAnswer {
  readonly text: string;
}

/** A user's answer to a question. A question of an outside child is refused with `allow: false`. */
export type GivenAnswer = CallAnswer | TextAnswer;

/** A user's answer to the question whether a call may run. */
export interface CallAnswer {
  readonly allow: boolean;
  /** What the agent reads when it is refused. */
  readonly note?: string | undefined;
  /** The mark of the file as the user saw it: the change fails if the file has changed since. */
  readonly seen?: string | undefined;
  /** The same call is not asked about again in this tree. */
  readonly always?: true | undefined;
}

/** A store whose trees this process runs: give it tasks, open conversations, look at runs and journals. */
export interface Errand {
  /**
   * Gives a task to an agent, waits until all of its work has ended, and returns the result. Rejects if it did not
   * end well. With `output` the task is one run of the agent, whose data are checked and typed.
   */
  run<Schema extends OutputSchema | undefined = undefined>(
    task: string,
    options?: TaskOptions<Schema>,
  ): Promise<TaskResult<OutputOf<Schema>>>;
  /** `run` as a stream of events, with the result at its end. Nothing begins before the stream is read. */
  stream<Schema extends OutputSchema | undefined = undefined>(
    task: string,
    options?: StreamOptions<Schema>,
  ): EventStream<TaskResult<OutputOf<Schema>>>;
  /** Opens an agent with its first message. Resolves when both are durable: a crash leaves both or neither. */
  start(message: string, options?: OpenAgentOptions): Promise<Started>;
  openAgent(options?: OpenAgentOptions): Promise<Agent>;
  /**
   * Delegation as tools for the loop of the AI SDK: `generateText({ tools: errand.tools({ agents: ["worker"] }), … })`.
   * Every call is a run of its own, which goes on if the host dies.
   */
  tools(options?: HostToolsOptions): AiSdkTools;
  /** The same tools with JSON Schemas, for other loops and for servers. */
  hostTools(options?: HostToolsOptions): HostTools;
  /** An agent of the store, by its id. */
  agent(id: string, options?: { readonly channel?: Channel }): Promise<Agent>;
  /** The newest trees first; 100 unless `limit` says otherwise. `before` is the id of the last one that is known. */
  listTrees(query?: Omit<Partial<TreeQuery>, "before"> & { readonly before?: string }): Promise<readonly TreeRecord[]>;
  /**
   * Runs of one tree or of all: in spawn order within a tree, the newest tree first; 100 unless `limit` says otherwise.
   */
  listRuns(query?: Omit<Partial<RunQuery>, "tree"> & { readonly tree?: string }): Promise<readonly ToldRun[]>;
  getRun(id: string): Promise<ToldRun>;
  /** All that an ended run left: its findings with artifacts, data and earlier reports. */
  result(run: string): Promise<string>;
  /** Cancels a run and everything below it. Returns false if it had ended. */
  cancel(run: string): Promise<boolean>;
  /** Calls that wait for a user's answer, of one tree or of all. */
  questions(query?: { readonly tree?: string }): Promise<readonly OpenQuestion[]>;
  /**
   * Allows or refuses the call that a question is about. The agent reads `note` when it is refused. Rejects if the
   * question is not open.
   */
  answer(question: string, answer: GivenAnswer): Promise<void>;
  /**
   * What happens in a tree, as readable events, from the cursor `after` on (default: from the first), those to come
   * included.
   */
  events(tree: string, options?: { readonly after?: string }): AsyncGenerator<PlacedEvent | TextPiece, void, void>;
  /** Every committed step of a tree after `after` (default: from the first), those to come included. */
  journal(tree: string, options?: { readonly after?: number }): AsyncGenerator<TreeEvent, void, void>;
  /** Live text, from now on. Returns a function that ends it. */
  onText(listener: (delta: TextDelta) => void): () => void;
  /** Proves a tree's journal: chain, fold, every decision and every context. Calls and changes nothing. */
  replay(tree: string): Promise<ReplayReport>;
  /** The lines of a file that holds the whole journal of a tree. */
  export(tree: string): AsyncGenerator<string, void, void>;
  /**
   * A new agent that shares the history of `tree` up to step `at` and continues from there. Work that ran at that point
   * is interrupted. With `agent` it continues as another definition.
   */
  fork(
    tree: string,
    options: { readonly at: number; readonly agent?: string; readonly channel?: Channel },
  ): Promise<Agent>;
  /** Every delegation as it ends or is refused, from now on: what to log or count. Returns a function that ends it. */
  onDelegation(listener: (record: DelegationRecord & { readonly tree: string }) => void): () => void;
  /** The channels that are attached here, and which of them are blocked. */
  channels(): readonly ChannelState[];
  /** How many trees are in memory. */
  treesInMemory(): number;
  /** Trees that an earlier process left unfinished and that were taken up when this one started. */
  readonly recovered: number;
  /** Stops taking work, lets running work finish within the time limit, parks the rest, and closes the store. */
  close(options?: { readonly withinMs?: number }): Promise<void>;
}
