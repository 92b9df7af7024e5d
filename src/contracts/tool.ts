/**
 * The tool port: what an agent can do besides delegating.
 *
 * Promises of a tool:
 *  1. `run` resolves with a result. A failure that the model can act on is a result with `failed: true`.
 *  2. It checks its arguments: a model wrote them.
 *  3. When the signal aborts it stops and leaves nothing running.
 *  4. It opens, lists and searches only files that the rules of the call allow.
 *  5. `safe` is true only if running it twice does no more than running it once.
 *  6. `recover` changes nothing, and may be asked more than once about the same call.
 */

import type { Json } from "../core/values/json.ts";
import type { FileFacts, FileJudge } from "../core/permissions/permissions.ts";

/** What a tool knows about its call. */
export interface ToolContext {
  readonly signal: AbortSignal;
  /** The folder the agent works in: an absolute path. */
  readonly workspace: string;
  /** The same in every process and attempt: an idempotency key for other systems. */
  readonly callId: string;
  /** 1 for the first try of the call. */
  readonly attempt: number;
  /** The conversation, the run that the agent works on (null for a root agent), and the agent: their ids. */
  readonly tree: string;
  readonly run: string | null;
  readonly agent: string;
  /** What the caller gave as `data` for this conversation or task; null if nothing. It is recorded. */
  readonly data: Json;
  /** The rules for this call; undefined if there are none. */
  readonly rules?: CallRules;
  /**
   * The mark of the file as the user saw it when they allowed this call (tools/seen-file.ts). A tool that changes a
   * file fails if the mark is different now. Undefined if the user was shown no file.
   */
  readonly seen?: string | undefined;
}

/** How opened files are judged. The kernel has judged the call before. */
export interface CallRules {
  readonly judge: FileJudge;
  /** The file as it was when the call was judged: the opened file must be the same. */
  readonly file: FileFacts;
}

/** What a model reads of a call. */
export interface ToolOutput {
  readonly text: string;
  readonly failed: boolean;
}

/** What became of a call that a crash interrupted: its result, or that it never happened. */
export type Recovered = ToolOutput | "never-happened";

/** A tool of agents, as Errand calls it. `tool()` makes one from typed arguments. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, for the model. */
  readonly schema: Json;
  readonly safe: boolean;
  run(input: Json, context: ToolContext): Promise<ToolOutput>;
  /**
   * Where the path of a call leads, before the call is judged; null if it is as written, or leads nowhere. It changes
   * nothing, and does not reject.
   */
  locate?(input: Json, context: Pick<ToolContext, "workspace">): Promise<FileFacts | null>;
  /**
   * What is wrong with the arguments, as a sentence for the model; null if nothing is. It reads only the arguments,
   * changes nothing and does not throw. The model gets the sentence before a user is asked about the call.
   */
  check?(input: Json): string | null;
  /** True if the user must be asked about this call, whatever the rules say. If it throws, the user is asked. */
  needsApproval?(input: Json): boolean | Promise<boolean>;
  /** For a tool that is not safe to repeat: what became of a call, after a crash. Without it the outcome is unknown. */
  recover?(input: Json, context: ToolContext): Promise<Recovered>;
}
