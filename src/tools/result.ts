/** What every file tool answers with: a text within its bound, or a failure the model can act on. */

import type { ToolOutput } from "../contracts/tool.ts";

/** No result of a file tool is longer than this. */
const RESULT_BYTES = 64 * 1024;

export function succeeded(text: string): ToolOutput {
  return { text, failed: false };
}

export function failed(sentence: string): ToolOutput {
  return { text: `Error: ${sentence}`, failed: true };
}

export function stopped(): ToolOutput {
  return failed("the call was stopped before it was done. Nothing was changed.");
}

/** Takes lines as long as the whole stays within the bound. */
export interface BoundedLines {
  /** False if there was no room: the line was left out, and the result is full. */
  add(line: string): boolean;
  readonly count: number;
  text(): string;
}

/** `reserve` is kept free for what stands before and after the lines. */
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
