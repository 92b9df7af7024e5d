/**
 * The journal's row as it is stored. One row is one step.
 *
 * Invariants:
 *  1. `head` is never changed. `hash` is the hash of the previous row's `hash` followed by this `head`: a chain.
 *  2. `head` holds the hash of `body`. `body` begins with a salt, so that an erased text cannot be guessed from its
 *     hash.
 *  3. `apply` reads only `head`, so a row whose body is gone still folds.
 */

import type { AgentNumber, RunNumber } from "../values/ids.ts";

/** A row of a journal, as stores keep it. */
export interface JournalRow {
  readonly seq: number;
  /** JSON text: revision, time, input and events. */
  readonly head: string;
  /** JSON text: an array of the salt and the texts. Null once it was erased whole. */
  readonly body: string | null;
  /** The hash of the chain up to this row: base64url of SHA-256. */
  readonly hash: string;
}

/** SHA-256 of a UTF-8 string, in base64url. Given to the kernel, which imports nothing. */
export type Sha256 = (text: string) => string;

/** How far a run is. */
export type RunState = "queued" | "running" | "waiting" | "needs_input" | "ended";
/** How a run ended. */
export type RunStatus = "ok" | "error" | "timeout" | "cancelled" | "interrupted";
/** Where the result of a run came from. */
export type ReportKind = "tool" | "tag" | "salvaged" | "missing";
/** Whether the parent waits in its call, or goes on. */
export type RunMode = "awaited" | "background";
/** How far a run's outcome has come on its way to the parent's context. */
export type DeliveryState = "open" | "pending" | "placed" | "returned" | "undeliverable";

/** A run in lists and queries. Written with the step that changes it; rebuildable from the journal. */
export interface RunRecord {
  readonly number: RunNumber;
  readonly id: string;
  readonly agent: string;
  readonly parent: AgentNumber;
  readonly mode: RunMode;
  readonly definition: string;
  readonly name: string;
  readonly state: RunState;
  readonly status: RunStatus | null;
  readonly reason: string | null;
  readonly report: ReportKind | null;
  readonly nudged: boolean;
  readonly delivery: DeliveryState;
  /** Why the outcome cannot reach the parent, or null. */
  readonly undeliverable: string | null;
  readonly group: string | null;
  readonly cleanup: "keep" | "delete";
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly deadline: number | null;
  readonly tokens: number;
  readonly cost: number;
  /** The step that created the run, which holds its task, and the step that ended it. */
  readonly createdSeq: number;
  readonly endedSeq: number | null;
}

/** The columns of a run that a step changed. A first patch holds all of them. */
export type RunPatch = Partial<RunRecord> & Pick<RunRecord, "number">;
