/**
 * What an event changed in a tree, for people and programs that follow it. These objects are the lines of `--json` as they stand, so
 * a field is added, never renamed or removed.
 *
 * Times (`at`) are milliseconds since 1970; money is micro-dollars; `run` and `agent` are ids that other commands take.
 */

import type { Json } from "../../core/values/json.ts";
import type { RunMode, RunState, RunStatus } from "../../core/journal/journal.ts";

interface Run {
  readonly run: string;
  readonly name: string;
  readonly definition: string;
}

interface Whose {
  readonly agent: string;
  /** The run's name, or the definition's for the root. */
  readonly name: string;
}

export type Change = { readonly at: number } & (
  | {
      readonly type: "agent-opened";
      readonly tree: string;
      readonly agent: string;
      readonly definition: string;
      readonly model: string;
    }
  | ({ readonly type: "run-created"; readonly agent: string; readonly parent: string; readonly mode: RunMode } & Run)
  | ({ readonly type: "run-started" } & Run)
  | ({ readonly type: "run-state-changed"; readonly state: RunState } & Run)
  | ({
      readonly type: "run-ended";
      readonly status: RunStatus;
      readonly reason: string | null;
      /** Why it did not end well, in words. */
      readonly error: string | null;
      readonly report: string;
      readonly elapsedMs: number;
      readonly tokens: number;
      readonly cost: number;
    } & Run)
  /** `internal`: it is about an announcement, not about a message of the user. */
  | ({ readonly type: "turn-started"; readonly internal: boolean } & Whose)
  | ({
      readonly type: "turn-ended";
      readonly outcome: "done" | "failed" | "cancelled";
      readonly reason: string | null;
      readonly error: string | null;
    } & Whose)
  /** `error`: what the provider said. */
  | ({
      readonly type: "model-retry";
      readonly attempt: number;
      readonly retryAt: number;
      readonly error: string | null;
    } & Whose)
  /** A call waits for the user: `errand answer` takes its id. */
  | ({ readonly type: "question-asked"; readonly id: string; readonly tool: string; readonly input: Json } & Whose)
  | ({ readonly type: "question-answered"; readonly id: string; readonly allow: boolean } & Whose)
  | ({ readonly type: "tool-started"; readonly call: string; readonly tool: string; readonly about: string } & Whose)
  | ({ readonly type: "tool-ended"; readonly call: string; readonly tool: string; readonly failed: boolean } & Whose)
);
