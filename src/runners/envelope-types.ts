/** The types of the envelope: requests to children outside this process, and all that the two sides say later. */

import type { RunStatus } from "../core/journal/journal.ts";
import type { Json } from "../core/values/json.ts";
import type { ArtifactKind } from "../core/values/limits.ts";

/** The version of the envelope format. */
export const ENVELOPE_VERSION = 1;

/** Which delegation an envelope is about. */
export interface Addressed<Type extends string> {
  readonly v: typeof ENVELOPE_VERSION;
  readonly type: Type;
  /** The run's id, in the request and in everything that is sent about it. */
  readonly correlation_id: string;
}

/** What a child used. */
export interface EnvelopeUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The part of the input that the provider read from its cache. */
  readonly cached_input_tokens?: number;
  /** Whole micro-dollars; left out if the price is unknown. */
  readonly cost_micro_dollars?: number;
}

/** A piece of a report. */
export interface EnvelopeArtifact {
  readonly kind: ArtifactKind;
  /** JSON text for `json`. */
  readonly value: string;
}

/** To the child: its task. */
export interface RequestEnvelope extends Addressed<"request"> {
  readonly task: string;
  readonly context?: string;
  readonly files?: readonly string[];
  readonly limits: {
    readonly timeout_seconds: number;
    readonly max_iterations: number;
    readonly summary_bytes: number;
  };
  readonly output_schema?: { readonly [keyword: string]: Json };
  /** The prompt of the child's definition. */
  readonly prompt?: string;
  /** The folder the child works in. */
  readonly workspace?: string;
  /** 2 and more: an earlier process of this run was lost. */
  readonly attempt?: number;
}

/** From the child, once and last. */
export interface ResultEnvelope extends Addressed<"result"> {
  readonly status: RunStatus;
  readonly reason?: string;
  readonly summary: string;
  readonly artifacts: readonly EnvelopeArtifact[];
  readonly data?: Json;
  /** Left out if the child does not know it. */
  readonly usage?: EnvelopeUsage;
}

/** From the child, any number of times. Without a text it only says that the child works, or what it has used. */
export interface ProgressEnvelope extends Addressed<"progress"> {
  readonly text?: string;
  readonly iterations?: number;
  /** Until now. */
  readonly usage?: EnvelopeUsage;
}

/** From the child, any number of times before its result. The last report counts. */
export interface ReportEnvelope extends Addressed<"report"> {
  readonly text: string;
  readonly artifacts?: readonly EnvelopeArtifact[];
  readonly data?: Json;
}

/** From the child: it waits for an answer of the user. */
export interface QuestionEnvelope extends Addressed<"question"> {
  /** The child chooses it; unique among its questions. */
  readonly id: string;
  readonly text: string;
  /** If given, the answer is one of these. */
  readonly choices?: readonly string[];
}

/** To the child: the answer to a question. */
export interface AnswerEnvelope extends Addressed<"answer"> {
  /** The `id` of the question. */
  readonly question: string;
  /** Left out if the user declined to answer. */
  readonly text?: string;
}

/** To the child while it works: words of its parent, of a user or of another agent. */
export interface SteerEnvelope extends Addressed<"steer"> {
  readonly text: string;
}

/** To the child: its last report was taken. */
export type ReportAcceptedEnvelope = Addressed<"report-accepted">;

/** To the child: its last report does not fit the output schema. It may report again. */
export interface ReportRefusedEnvelope extends Addressed<"report-refused"> {
  readonly problem: string;
}

/** What a child may send. */
export type ChildEnvelope = ResultEnvelope | ProgressEnvelope | ReportEnvelope | QuestionEnvelope;

/** A message between Errand and a child outside this process. */
export type Envelope =
  | RequestEnvelope
  | ChildEnvelope
  | AnswerEnvelope
  | SteerEnvelope
  | ReportAcceptedEnvelope
  | ReportRefusedEnvelope;

/** The kinds of envelopes. */
export type EnvelopeType = Envelope["type"];
