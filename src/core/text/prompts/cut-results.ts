/**
 * Results of tools that are too long for a context (rule D7). The agent reads the beginning, after a note that says how
 * much is missing and names the handle with which `read_result` reads the whole.
 *
 * Invariants:
 *  1. A handle names the row that holds the result, so it is unique in its tree and its forks. Call ids are not: models
 *     repeat them.
 *  2. The note is before the text, so that it stays when the text is shortened later.
 */

import type { FactOf } from "../../event.ts";
import type { WholeResult } from "../../input.ts";

export interface CutResult {
  readonly seq: number;
  readonly name: string;
  readonly bytes: number;
}

/** How many of an agent's results a summary names. */
const NAMED = 20;

const HANDLE = /^call-([1-9][0-9]{0,14})$/;

function resultHandle(seq: number): string {
  return `call-${seq}`;
}

/** The row that a handle names; null if the text is not a handle. */
export function resultHandleRow(handle: string): number | null {
  const seq = HANDLE.exec(handle)?.[1];
  return seq === undefined ? null : Number(seq);
}

/** A result as its agent's model reads it. `text` is text 0 of row `seq`. */
export function resultText({ whole }: FactOf<"tool-finished">, seq: number, text: string): string {
  if (whole === undefined) return text;
  const { bytes, sha256, kept, given } = whole;
  const truncated = JSON.stringify({ original_bytes: bytes, kept_bytes: kept, sha256 });
  const lost = given === undefined ? "" : ` The tool gave ${given} bytes; those after the first ${bytes} are lost.`;
  const rest = `read the rest with read_result, call_id "${resultHandle(seq)}", offset ${kept}`;
  return `[truncated: ${truncated}; ${rest}.${lost}]\n${text}`;
}

/** The cut results that a summary will name, with one more. */
export function withCutResult(
  cut: readonly CutResult[],
  seq: number,
  name: string,
  { bytes }: WholeResult,
): CutResult[] {
  return [...cut, { seq, name, bytes }].slice(-NAMED);
}

/** The end of a summary: the cut results that it replaced can still be read. */
export function cutResultLines(cut: readonly CutResult[]): string {
  if (cut.length === 0) return "";
  const lines = cut.map(({ seq, name, bytes }) => `- call_id "${resultHandle(seq)}": ${name}, ${bytes} bytes`);
  return ["\n\nResults of tools that read_result still reads:", ...lines].join("\n");
}
