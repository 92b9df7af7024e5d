/** What a host tool answers: one object, the same for all tools that are about one run. */

import type { Artifact } from "../core/reports/report.ts";
import type { Json } from "../core/values/json.ts";

/** The states and ends of a run, and `refused`: the call could not be done, and changed nothing. */
export const HOST_STATUSES = [
  "queued",
  "working",
  "input_required",
  "completed",
  "failed",
  "timed_out",
  "cancelled",
  "interrupted",
  "quarantined",
  "refused",
] as const;

/** How a run stands, for a host. */
export type HostStatus = (typeof HOST_STATUSES)[number];

/** A question of a run, to answer with `subagent_send`. */
export interface AskedQuestion {
  readonly question_id: string;
  /** The name of the run that asks. */
  readonly asked_by: string;
  readonly tool: string;
  readonly question: string;
}

/** Says that only a part of the result is here. */
export interface CutResult {
  /** Bytes of the whole result. */
  readonly bytes: number;
  /** Where the next part begins; absent in the last part. */
  readonly next_offset?: number;
}

/** What the tools for one run give. */
export interface HostRunOutput {
  readonly status: HostStatus;
  /** The handle of the run: valid in every process that opens the store. */
  readonly run_id?: string;
  readonly agent?: string;
  readonly name?: string;
  /** What the run is doing, while it is open. */
  readonly activity?: string;
  readonly questions?: readonly AskedQuestion[];
  readonly summary?: string;
  readonly artifacts?: readonly Artifact[];
  readonly data?: Json;
  /** Why it did not end well, or why the call was refused, in words. */
  readonly error?: string;
  /** The same for programs. */
  readonly reason?: string;
  readonly cut?: CutResult;
}

/** A run in a list. */
export interface ListedRun {
  readonly run_id: string;
  readonly status: HostStatus;
  readonly agent: string;
  readonly name: string;
  readonly created_at: string;
}

/** What `subagent_list` gives. */
export interface HostListOutput {
  readonly runs?: readonly ListedRun[];
  /** True if there are older runs that are not listed. */
  readonly more?: boolean;
  readonly status?: "refused";
  readonly error?: string;
  readonly reason?: string;
}

/** What a delegation tool gives. */
export type HostToolOutput = HostRunOutput | HostListOutput;

const text = { type: "string" } as const;
const whole = { type: "integer", minimum: 0 } as const;
const status = { type: "string", enum: HOST_STATUSES } as const;
type JsonObject = { readonly [name: string]: Json };

function object(properties: JsonObject, ...required: readonly string[]): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

function list(items: Json): JsonObject {
  return { type: "array", items };
}

export const RUN_OUTPUT_SCHEMA = object(
  {
    status,
    run_id: text,
    agent: text,
    name: text,
    activity: text,
    questions: list(
      object(
        { question_id: text, asked_by: text, tool: text, question: text },
        "question_id",
        "asked_by",
        "tool",
        "question",
      ),
    ),
    summary: text,
    artifacts: list(object({ kind: text, value: text }, "kind", "value")),
    data: {},
    error: text,
    reason: text,
    cut: object({ bytes: whole, next_offset: whole }, "bytes"),
  },
  "status",
);

export const LIST_OUTPUT_SCHEMA = object({
  runs: list(
    object(
      { run_id: text, status, agent: text, name: text, created_at: text },
      "run_id",
      "status",
      "agent",
      "name",
      "created_at",
    ),
  ),
  more: { type: "boolean" },
  status: { type: "string", enum: ["refused"] },
  error: text,
  reason: text,
});
