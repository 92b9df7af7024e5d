/** What a program gives with a task, and what it gets back. */

import type { Json } from "../../core/values/json.ts";
import type { OutputSchema, StandardSchema } from "../definitions/output-schema.ts";
import type { PostOptions } from "../messages/posted-message.ts";
import type { StreamEvent } from "../../view/readable-event.ts";
import type { ToldRun } from "../runs.ts";
import type { TaskUsage, UserMessage } from "./task-reader.ts";

/** The type of the data that a schema describes. */
export type OutputOf<Schema> =
  Schema extends StandardSchema<infer Output> ? Output : Schema extends object ? Json : undefined;

/** What a task is given besides its text, as a stream. */
export interface StreamOptions<Schema extends OutputSchema | undefined = undefined> {
  /** Name of the definition. Default: `orchestrator`; with `output`: `worker`. */
  readonly agent?: string;
  /**
   * Schema of the result's data. The task is then one run of the agent, which reports its data; no other model is
   * called for it.
   */
  readonly output?: Schema;
  /** Cancels the task and everything below it. The promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Makes the task idempotent: the same key gives the same task, in this process or a later one. The same key with
   * another task, agent, schema or `data` is refused (`id-reused`).
   */
  readonly key?: string;
  /**
   * Any JSON up to 64 KiB, for your tools: they get it as `context.data`, in every agent below and after a restart. It
   * is recorded, and no model sees it.
   */
  readonly data?: unknown;
  /** The cursor of the last known event: the stream continues after it. */
  readonly after?: string;
}

/** What a task is given besides its text. */
export interface TaskOptions<Schema extends OutputSchema | undefined = undefined> extends Omit<
  StreamOptions<Schema>,
  "after"
> {
  /** Gets each event as it comes. */
  readonly onEvent?: (event: StreamEvent) => void;
}

/** What came of a task that ended well. */
export interface TaskResult<Data = undefined> {
  /**
   * The answer: what the agent ended its turns with. With `output`: the summary of the report. Empty if nothing was
   * said.
   */
  readonly text: string;
  /** All messages to the user, in order. */
  readonly messages: readonly UserMessage[];
  /** The data of the report, with `output`. */
  readonly data: Data;
  readonly usage: TaskUsage;
  /** Micro-dollars. */
  readonly cost: number;
  /** The runs that the task started. */
  readonly runs: readonly ToldRun[];
  readonly tree: string;
}

/** How a question within a conversation is posted. */
export interface AskOptions extends Pick<PostOptions, "id" | "kind"> {
  /** Cancels the turn and everything below it. */
  readonly signal?: AbortSignal;
}
