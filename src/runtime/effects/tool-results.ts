/**
 * From what a tool gave to the input that records it. This is where a result of any length becomes bounded.
 *
 * Invariants:
 *  1. A result that fits its agent's context is recorded as it is.
 *  2. Of a longer one the beginning enters the context, and the text that `read_result` reads is recorded beside it, in
 *     the same row.
 *  3. What is recorded shares no memory with what the tool gave: a beginning of 64 KiB must not keep 100 MB alive.
 *  4. An answer of `read_result` is a piece already: it is never cut again.
 */

import { createHash } from "node:crypto";
import type { ToolOutput } from "../../contracts/tool.ts";
import type { Effect } from "../../core/effect.ts";
import { LIMITS, type Settings } from "../../core/values/limits.ts";
import type { InputWithTexts } from "./model-inputs.ts";

export interface ResultBounds {
  /** Bytes of a result in its agent's context. */
  readonly shown: number;
  /** Bytes that are recorded of it. */
  readonly kept: number;
}

/**
 * Trees of earlier revisions were opened without these limits: the defaults hold for what their tools give from now on.
 */
export function resultBounds(settings: Settings | null): ResultBounds {
  const limits: { readonly [name: string]: number | null } = settings?.limits ?? {};
  const shown = limits["toolResultBytes"] ?? LIMITS.toolResultBytes.default;
  const kept = limits["toolResultKeptBytes"] ?? LIMITS.toolResultKeptBytes.default;
  return { shown, kept: Math.max(shown, kept) };
}

type ToolEffect = Extract<Effect, { type: "call-tool" | "recover-tool" | "read-store" }>;

export function toolFinishedInput(effect: ToolEffect, output: ToolOutput, bounds: ResultBounds): InputWithTexts {
  const { text } = output;
  const finished = {
    type: "tool-finished",
    effect: effect.key,
    attempt: effect.attempt,
    failed: output.failed ? true : undefined,
  } as const;
  const piece = effect.type === "read-store" && effect.name === "read_result";
  if (piece || text.length * 3 <= bounds.shown) return { input: { ...finished, size: text.length }, texts: [text] };
  const given = Buffer.byteLength(text);
  if (given <= bounds.shown) return { input: { ...finished, size: text.length }, texts: [text] };
  // A byte more than is recorded tells whether the last character is whole.
  const bytes = Buffer.from(given <= bounds.kept ? text : text.slice(0, bounds.kept + 1));
  const whole = bytes.subarray(0, characterEnd(bytes, bounds.kept));
  const kept = characterEnd(whole, bounds.shown);
  const beginning = whole.toString("utf8", 0, kept);
  const sha256 = createHash("sha256").update(whole).digest("base64url");
  const lost = given > whole.length ? given : undefined;
  return {
    input: { ...finished, size: beginning.length, whole: { bytes: whole.length, sha256, kept, given: lost } },
    texts: [beginning, whole.toString("utf8")],
  };
}

/** The end of the last whole character within so many bytes of UTF-8. */
export function characterEnd(bytes: Uint8Array, most: number): number {
  let end = Math.min(bytes.length, most);
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}
