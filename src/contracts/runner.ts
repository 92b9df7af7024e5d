/**
 * The runner port: the way to a child whose turns are executed outside the kernel, such as another program or a remote
 * agent. A runner is a plain object from a factory. Each run is one session of it.
 *
 * Promises of a runner:
 *  1. No method throws or rejects: a failure is a `RunnerEnd`. What went wrong has one of the codes of `RunnerFailure`.
 *  2. `ended` is called exactly once for each `start` and `resume`, also after `stop`, and nothing is called after it.
 *     When it is called, nothing of the session runs any more.
 *  3. Memory is bounded: a child that writes without end is stopped (`envelope-size`) or its output is dropped.
 *  4. When the process that runs Errand dies, the processes of its sessions end too.
 *  5. It keeps no time limits of its own except for what a child must do at once, and it does not retry. The kernel has
 *     the deadline, the budget and the retries.
 *  6. Events of one session come in the order in which the child made them, and name no other session.
 *
 * Promises of the runtime:
 *  1. It calls `start` only after the intention is durable, and once for each attempt.
 *  2. It bounds, normalises and redacts what the events bring. The events return at once and do not throw.
 *  3. It calls `stop` at the deadline, after a cancellation, when a limit is reached and when it closes. Events that
 *     come after `stop` change nothing.
 *  4. After a crash it calls `gone`, and only then `resume` or the end of the run as `interrupted`.
 */

import type { Json } from "../core/values/json.ts";
import type { ArtifactKind } from "../core/values/limits.ts";

/**
 * The settings of a definition for its runner, which the kernel does not read. They may name what is started, so they
 * say who is responsible for them: the program that uses Errand, or a file that the user trusts. A file that is not
 * trusted has no settings, and a runner refuses settings of any other origin.
 */
export interface RunnerSettings {
  readonly origin: "code" | "trusted-file";
  readonly value: Json;
}

/** Executes children outside this process, such as another program or a remote agent. */
export interface Runner {
  /** Definitions name it: `runner: NAME`. */
  readonly name: string;
  /**
   * What can be sent to a session. A run is not steered if `steer` is missing. If `report-refused` is missing, a report
   * with data that do not fit ends the run as `invalid-output`. Questions are only for runners that take `answer`.
   */
  readonly takes: readonly RunnerMessage["type"][];
  /** What is wrong with the settings of a definition, as a sentence for its author; null if nothing is. */
  check(settings: RunnerSettings): string | null;
  /** Why no session can be started now (`runner-unavailable`), in a sentence that says what to do; null if it can. */
  available(settings: RunnerSettings): Promise<string | null>;
  /** Values that must not be recorded, such as the keys that the child gets. They are removed from all its texts. */
  secrets?(settings: RunnerSettings): readonly string[];
  start(request: RunnerRequest, events: RunnerEvents): RunnerSession;
  /**
   * Continues the session that an earlier attempt of the run named with `resumable`. Absent if the runner cannot. A
   * session that is lost ends as `runner-died`.
   */
  resume?(request: RunnerRequest, token: string, events: RunnerEvents): RunnerSession;
  /**
   * Stops what an earlier process left of these attempts, and resolves when nothing of them runs any more. It resolves
   * at once if nothing does.
   */
  gone(earlier: EarlierAttempts): Promise<void>;
}

/** The earlier attempts of a run, whose sessions may still be alive. */
export interface EarlierAttempts {
  /** A fork has the runs of its origin, and must not stop their sessions: the tree tells them apart. */
  readonly tree: string;
  readonly run: string;
  readonly attempts: number;
  /** Null if the definition is not there any more. */
  readonly settings: RunnerSettings | null;
}

/** What a child is started with. */
export interface RunnerRequest {
  /** The id of the run: the correlation id of all that the child and Errand send each other. */
  readonly run: string;
  /** 1 for the first session of the run. */
  readonly attempt: number;
  /** The ids of the conversation and of the child. */
  readonly tree: string;
  readonly agent: string;
  /** The definition's prompt; "" if it has none. */
  readonly prompt: string;
  readonly task: string;
  /** What the parent gave with the task; "" if nothing. */
  readonly context: string;
  /** File hints of the parent. */
  readonly files: readonly string[];
  readonly limits: RunnerLimits;
  /** JSON Schema of the data to return; null if the run is not typed. */
  readonly outputSchema: Json;
  /** The folder the child works in: an absolute path. */
  readonly workspace: string;
  /** `check` found nothing wrong. */
  readonly settings: RunnerSettings;
}

/** What a child may use. */
export interface RunnerLimits {
  /** How long the run may still work. Time that it waits for an answer does not count. */
  readonly timeoutSeconds: number;
  /** Iterations of the child's own loop. The run ends if it reports more (`RunnerProgress.iterations`). */
  readonly iterations: number;
  /** How long a text, its artifacts and data are passed to the parent whole. */
  readonly summaryBytes: number;
  /** How long the child may take to end by itself after `stop`. Then it is killed. */
  readonly graceSeconds: number;
}

/** Called by the runner. All texts are data: the child wrote them. */
export interface RunnerEvents {
  /** What the child does now, for people. It may be called often: the runtime records some of it. */
  progress(progress: RunnerProgress): void;
  /** Another process can resume the session with this token from now on. The newest token counts. */
  resumable(token: string): void;
  /** The child waits for a user's answer. `id` is unique in the session; the same id again is ignored. */
  question(question: RunnerQuestion): void;
  /** A result, before the end. The newest one counts. It is answered with `report-accepted` or `report-refused`. */
  report(report: RunnerReport): void;
  /** The session is over. */
  ended(end: RunnerEnd): void;
}

/** What a child has done so far. */
export interface RunnerProgress {
  /** One line; absent if only the numbers are new. */
  readonly text?: string;
  /** So far since this `start` or `resume`. Absent if unknown or unchanged. */
  readonly usage?: RunnerUsage;
  readonly iterations?: number;
}

/** All that a session has used since its `start` or `resume`: it never becomes less. */
export interface RunnerUsage {
  readonly input: number;
  readonly output: number;
  /** The part of `input` that the provider read from its cache. */
  readonly cachedInput?: number;
  /** Whole micro-dollars. Absent if the child does not know it: then the price of the definition's model counts. */
  readonly cost?: number;
}

/** A question of the child for the user. */
export interface RunnerQuestion {
  readonly id: string;
  readonly text: string;
  /** If given, the answer is one of these. */
  readonly choices?: readonly string[];
}

/** A piece of a child's report: a note, a path, a diff or JSON. */
export interface RunnerArtifact {
  readonly kind: ArtifactKind;
  /** JSON text for `json`. */
  readonly value: string;
}

/** What a child found. */
export interface RunnerReport {
  readonly text: string;
  readonly artifacts?: readonly RunnerArtifact[];
  /** The typed result. */
  readonly data?: Json;
}

/**
 * Why a session ended without a result. The codes are stable.
 *
 * `runner-unavailable`: it could not be started. `envelope-json`, `envelope-version`, `envelope-size`: the child sent
 * something malformed, of another version, or too large. `runner-died`: it ended without a result. `runner-hung`: it
 * did not do in time what it must do at once, such as to greet, or to end after its result.
 */
export type RunnerFailure =
  | "runner-unavailable"
  | "envelope-json"
  | "envelope-version"
  | "envelope-size"
  | "runner-died"
  | "runner-hung";

/**
 * The end of a session. The kernel decides the status of the run from it: `ok` counts only if the data fit the schema;
 * a deadline, a cancellation or a limit that came first counts instead.
 *
 * `ok`: the child says that it has done its task. Without a report the newest one counts. `error`: the child says that
 * it failed. `failed`: there is no word of the child.
 */
export type RunnerEnd =
  | { readonly status: "ok"; readonly report?: RunnerReport; readonly usage?: RunnerUsage }
  | {
      readonly status: "error";
      /** One or two lines: what happened. */
      readonly error: string;
      readonly report?: RunnerReport;
      readonly usage?: RunnerUsage;
    }
  | {
      readonly status: "failed";
      readonly code: RunnerFailure;
      /** One or two lines: what happened, why, what to do. */
      readonly error: string;
      readonly usage?: RunnerUsage;
    };

/** A message to a session. */
export type RunnerMessage =
  /** The user's answer to a question; `text` is null if the user refused to answer. */
  | { readonly type: "answer"; readonly question: string; readonly text: string | null }
  /** Words of the parent, a user or another agent for the child while it works. */
  | { readonly type: "steer"; readonly text: string }
  | { readonly type: "report-accepted" }
  /** The newest report does not fit: the child should mend it and report again. */
  | { readonly type: "report-refused"; readonly problem: string };

/** A child that runs. */
export interface RunnerSession {
  /** Called only with messages that the runner `takes`. After the end it does nothing. */
  tell(message: RunnerMessage): void;
  /**
   * Asks the child to end, and kills it with all its processes after the grace. Resolves when nothing of the session
   * runs any more, after `ended` was called. A second call returns the same promise.
   */
  stop(): Promise<void>;
}
