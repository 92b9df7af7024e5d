/**
 * What a run looks like to a host's model, within a number of bytes.
 *
 * Invariants:
 *  1. The status is what the runtime says of the run: only `ok` is `completed`.
 *  2. A result that does not fit is cut at a character, and names where to read on. Data stay whole or are left out.
 */

import type { RunStatus } from "../core/journal/journal.ts";
import { ErrandError, errorText } from "../errors.ts";
import { cutToBytes, utf8Length } from "../core/text/index.ts";
import type { HostQuestion, HostResult, HostRun } from "./host-runtime.ts";
import type { CutResult, HostRunOutput, HostStatus, ListedRun } from "./output-schemas.ts";

const ENDS: Readonly<Record<RunStatus, HostStatus>> = {
  ok: "completed",
  error: "failed",
  timeout: "timed_out",
  cancelled: "cancelled",
  interrupted: "interrupted",
};
const OPEN = {
  queued: "queued",
  working: "working",
  asking: "input_required",
  quarantined: "quarantined",
} as const;

/** Bytes of a question that is shown. */
const QUESTION_BYTES = 4_096;

function statusOf({ state, status }: HostRun): HostStatus {
  return state === "ended" ? ENDS[status ?? "interrupted"] : OPEN[state];
}

export function openOutput(run: HostRun, activity: string | null, questions: readonly HostQuestion[]): HostRunOutput {
  return {
    status: statusOf(run),
    run_id: run.id,
    agent: run.agent,
    name: run.name,
    ...(activity === null ? {} : { activity }),
    ...(questions.length === 0
      ? {}
      : {
          questions: questions.map(({ id, who, tool, text }) => ({
            question_id: id,
            asked_by: who ?? run.name,
            tool,
            question: cutToBytes(text, QUESTION_BYTES),
          })),
        }),
    ...(run.state === "quarantined"
      ? { error: "The run failed to go on several times, and waits for a person: errand resume", reason: "quarantined" }
      : {}),
  };
}

/** `offset`: the result is read from this byte on. */
export function endedOutput(run: HostRun, result: HostResult, most: number, offset: number | undefined): HostRunOutput {
  return {
    status: statusOf(run),
    run_id: run.id,
    agent: run.agent,
    name: run.name,
    ...(result.error === null ? {} : { error: result.error }),
    ...(run.reason === null ? {} : { reason: run.reason }),
    ...findings(result, most, offset),
  };
}

type Findings = Pick<HostRunOutput, "summary" | "artifacts" | "data" | "cut">;

function findings({ text, artifacts, data, whole }: HostResult, most: number, offset: number | undefined): Findings {
  if (offset !== undefined) return piece(whole, offset, most);
  const typed = data === undefined ? {} : { data };
  if (utf8Length(whole) <= most) return { summary: text, ...(artifacts.length === 0 ? {} : { artifacts }), ...typed };
  const dataBytes = data === undefined ? 0 : utf8Length(JSON.stringify(data));
  return dataBytes * 2 > most ? piece(whole, 0, most) : { ...piece(whole, 0, most - dataBytes), ...typed };
}

/** A part of a text, from a byte on. It has at least one character, so that a reader who reads on reaches the end. */
function piece(whole: string, offset: number, most: number): { readonly summary: string; readonly cut: CutResult } {
  const { text, bytes, next } = textPiece(whole, offset, most);
  return { summary: text, cut: next === null ? { bytes } : { bytes, next_offset: next } };
}

/** A part of a text as programs read it. */
export interface TextPart {
  readonly text: string;
  /** Bytes of the whole text. */
  readonly bytes: number;
  /** Where the next part begins; null in the last part. */
  readonly next: number | null;
}

/** Its JSON has at most twice as many characters as `most`: text with many escapes comes in smaller pieces. */
export function textPiece(whole: string, offset: number, most: number): TextPart {
  const bytes = utf8Length(whole);
  const before = cutToBytes(whole, offset);
  const rest = whole.slice(before.length);
  const [first = ""] = rest;
  const least = utf8Length(first);
  let text = cutToBytes(rest, Math.max(most, least));
  for (let room = most / 2; room > least && JSON.stringify(text).length > 2 * most; room /= 2)
    text = cutToBytes(rest, room);
  const end = utf8Length(before) + utf8Length(text);
  return { text, bytes, next: end < bytes ? end : null };
}

export function listedRun(run: HostRun): ListedRun {
  const { id, agent, name, createdAt } = run;
  return { run_id: id, status: statusOf(run), agent, name, created_at: new Date(createdAt).toISOString() };
}

/** Why a call could not be done, for a model and for a program. */
export function problemOf(error: unknown): { readonly error: string; readonly reason: string } {
  if (!(error instanceof ErrandError)) return { error: errorText(error), reason: "internal-error" };
  const { message, remedy, code } = error;
  return { error: remedy === undefined ? message : `${message} ${remedy}`, reason: code };
}
