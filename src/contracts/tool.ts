/**
 * The tool port: what an agent can do besides delegating.
 *
 * Promises of a tool:
 *  1. `run` resolves with a result; a failure the model can act on is a result with `failed: true`, not an exception.
 *  2. It checks its own arguments: they are what a model wrote.
 *  3. When the signal aborts it stops and leaves nothing running.
 *  4. `safe` is true only if running it twice does no more than running it once.
 */

import type { Json } from "../core/json.ts";

export interface ToolContext {
  readonly signal: AbortSignal;
  /** The folder the agent works in: an absolute path. */
  readonly workspace: string;
}

export interface ToolOutput {
  readonly text: string;
  readonly failed: boolean;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, as the model is shown it. */
  readonly schema: Json;
  readonly safe: boolean;
  run(input: Json, context: ToolContext): Promise<ToolOutput>;
}
