/** What the host tools need of a runtime. The runtime makes it; a test may make another one. */

import type { RunStatus } from "../core/journal/journal.ts";
import type { Artifact } from "../core/reports/report.ts";
import type { Json } from "../core/values/json.ts";

/** A definition that a host's model may name. */
export interface HostAgent {
  readonly name: string;
  readonly description: string;
}

export interface HostRequest {
  readonly agent: string;
  readonly task: string;
  readonly context?: string;
  readonly files?: readonly string[];
  readonly label?: string;
  readonly maxIterations?: number;
  readonly timeoutSeconds?: number;
  /** JSON Schema of the data, as the host's model wrote it. */
  readonly outputSchema?: { readonly [keyword: string]: Json };
}

/** A run that a host started, as the store knows it now. */
export interface HostRun {
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  /** `ended` only if nothing in its tree is under way. `asking`: a question waits for an answer. */
  readonly state: "queued" | "working" | "asking" | "quarantined" | "ended";
  /** How it ended; null while it is open. */
  readonly status: RunStatus | null;
  readonly reason: string | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export interface HostResult {
  readonly text: string;
  readonly artifacts: readonly Artifact[];
  readonly data: Json | undefined;
  /** All of it as one text, with earlier reports. */
  readonly whole: string;
  /** Why it did not end well, in words; null for a run that did. */
  readonly error: string | null;
}

export interface HostQuestion {
  /** What an answer names. */
  readonly id: string;
  /** The name of the run that asks. */
  readonly who: string | null;
  readonly tool: string;
  /** The question in words. */
  readonly text: string;
}

export interface FollowOptions {
  /** How long to follow at most: 0 only looks, null means without end. */
  readonly timeoutMs: number | null;
  /** True: it also ends when a question waits for an answer. */
  readonly stopsAtQuestion: boolean;
  readonly signal: AbortSignal | undefined;
  /** True: lines are also told about what happened before. */
  readonly fromStart: boolean;
  /** Gets a line for each thing that happens. What it throws is reported, and ends nothing. */
  readonly onLine: ((line: string) => void) | undefined;
}

/** `text`: the words for a question that a child outside Errand asks by itself. A call is allowed or refused. */
export type HostAnswer = { readonly allow: boolean; readonly note: string } | { readonly text: string };

export interface HostRuntime {
  /** All definitions that can be named, or these. Throws if one of these cannot be used. */
  agents(names: readonly string[] | undefined): readonly HostAgent[];
  /** Resolves with the id of the run once it is durable. The same key gives the same run. `data` is for its tools. */
  start(request: HostRequest, key: string | undefined, data: unknown): Promise<string>;
  /** True if a run was started under this key. */
  known(key: string): Promise<boolean>;
  /** A run that a host started; null for any other id. */
  find(run: string): Promise<HostRun | null>;
  /** Such runs, the newest first: at most `limit` of these agents. */
  list(query: {
    readonly agents: ReadonlySet<string>;
    readonly open: boolean | undefined;
    readonly limit: number;
  }): Promise<{ readonly runs: readonly HostRun[]; readonly more: boolean }>;
  /**
   * Resolves with what the run is doing, once nothing in its tree is under way or the options say so. Rejects if the
   * runtime is closed or the tree goes on no more.
   */
  follow(run: string, options: FollowOptions): Promise<string | null>;
  result(run: string): Promise<HostResult>;
  questions(run: string): Promise<readonly HostQuestion[]>;
  /** Resolves when the message is durable. Rejects if the run has ended. */
  send(run: string, text: string): Promise<void>;
  /** Rejects if the question is not open, is not one of this run's tree, or takes another kind of answer. */
  answer(run: string, question: string, answer: HostAnswer): Promise<void>;
  /** Cancels the run and everything below it. False if it had ended. */
  cancel(run: string): Promise<boolean>;
  /** What its agent was told and said. */
  transcript(run: string): Promise<string>;
}
