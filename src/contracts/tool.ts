/**
 * The tool port: what an agent can do besides delegating.
 *
 * Promises of a tool:
 *  1. `run` resolves with a result; a failure the model can act on is a result with `failed: true`, not an exception.
 *  2. It checks its own arguments: they are what a model wrote.
 *  3. When the signal aborts it stops and leaves nothing running.
 *  4. Of files it opens, lists or searches only those that the rules of the call allow.
 *  5. `safe` is true only if running it twice does no more than running it once.
 *  6. `recover` changes nothing, and may be asked more than once about the same call.
 */

import type { Json } from "../core/values/json.ts";
import type { FileFacts, FileJudge } from "../core/permissions/permissions.ts";

export interface ToolContext {
  readonly signal: AbortSignal;
  /** The folder the agent works in: an absolute path. */
  readonly workspace: string;
  /** Names this call in every process and attempt: a key for systems that do a thing only once for each key. */
  readonly callId: string;
  /** 1 for the first try of the call. */
  readonly attempt: number;
  /** The conversation, the run that the agent works on (null for a root agent), and the agent: their ids. */
  readonly tree: string;
  readonly run: string | null;
  readonly agent: string;
  /** The rules for this call; undefined if nobody restricts anything. */
  readonly rules?: CallRules;
  /**
   * The mark of the file, as the user saw it when they allowed this call (tools/seen-file.ts). A tool that changes a file fails if the file has
   * another one by now. Undefined: nobody was shown anything.
   */
  readonly seen?: string | undefined;
}

/** How files are judged once they are open, beside what the kernel judged before. */
export interface CallRules {
  readonly judge: FileJudge;
  /** What was known of the file when the call was judged: an opened file must still be that one. */
  readonly file: FileFacts;
}

export interface ToolOutput {
  readonly text: string;
  readonly failed: boolean;
}

/** What became of a call that a crash interrupted: its result, or that it never happened. */
export type Recovered = ToolOutput | "never-happened";

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, as the model is shown it. */
  readonly schema: Json;
  readonly safe: boolean;
  run(input: Json, context: ToolContext): Promise<ToolOutput>;
  /**
   * Where the path of a call really leads, before the call is judged; null where it is as written, or leads nowhere. It changes nothing, and
   * does not reject.
   */
  locate?(input: Json, context: Pick<ToolContext, "workspace">): Promise<FileFacts | null>;
  /**
   * What is wrong with the arguments, as a sentence for the model; null if nothing is. It looks at nothing else, changes nothing and does not throw.
   * A call that it refuses is answered with the sentence before anybody is asked about it.
   */
  check?(input: Json): string | null;
  /** True if the user is to be asked about this call, whatever the rules say. It changes nothing. If it throws, the user is asked. */
  needsApproval?(input: Json): boolean | Promise<boolean>;
  /**
   * For a tool that is not safe to repeat: asked after a crash what became of the call. Without it the model is told that the outcome is unknown.
   */
  recover?(input: Json, context: ToolContext): Promise<Recovered>;
}
