/** The answers of tools: a text of limited length, or a failure that the model can act on. */

import type { ToolOutput } from "../contracts/tool.ts";

/** The most bytes of a result of a file tool. */
const RESULT_BYTES = 64 * 1024;

export function succeeded(text: string): ToolOutput {
  return { text, failed: false };
}

export function failed(sentence: string): ToolOutput {
  return { text: `Error: ${sentence}`, failed: true };
}

export const STOPPED = "the call was stopped before it was done. Nothing was changed.";

export function stopped(): ToolOutput {
  return failed(STOPPED);
}

/** Collects lines up to the limit of a result. */
export interface BoundedLines {
  /** False if there was no room: the line is left out, and so are all later ones. */
  add(line: string): boolean;
  readonly count: number;
  text(): string;
}

/** `reserve` bytes stay free for the text before and after the lines. */
export function createBoundedLines(reserve = 2048): BoundedLines {
  const lines: string[] = [];
  let room = RESULT_BYTES - reserve;
  return {
    add(line) {
      const bytes = Buffer.byteLength(line) + 1;
      if (bytes > room) {
        room = 0;
        return false;
      }
      room -= bytes;
      lines.push(line);
      return true;
    },
    get count() {
      return lines.length;
    },
    text: () => lines.join("\n"),
  };
}

/** `1 file`, `2 files`. */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
