/**
 * What a background process tells the command that started it: one line, on a pipe of their own, once the task is durable or cannot be
 * taken.
 */

import { closeSync, fstatSync, writeSync } from "node:fs";
import type { Problem } from "../../problem.ts";

export type StartingWord =
  | { readonly type: "accepted"; readonly tree: string }
  | { readonly type: "refused"; readonly code: string; readonly message: string; readonly remedy: string | null };

/** The descriptor of the pipe in the background process. */
export const WORD_DESCRIPTOR = 3;

/** The side of the background process. Only the first word goes out. */
export interface Starter {
  accepted(tree: string): void;
  /** False if another word went out before. */
  refused(problem: Problem): boolean;
}

export function createStarter(): Starter {
  let told = false;
  function tell(word: StartingWord): boolean {
    if (told) return false;
    told = true;
    try {
      // Whoever typed the option by hand has no such pipe, and what stands there instead is not to be touched.
      if (!fstatSync(WORD_DESCRIPTOR).isSocket()) return true;
      writeSync(WORD_DESCRIPTOR, `${JSON.stringify(word)}\n`);
      closeSync(WORD_DESCRIPTOR);
    } catch {
      // The command has gone; the work goes on without it.
    }
    return true;
  }
  return {
    accepted: (tree) => void tell({ type: "accepted", tree }),
    refused: ({ code, message, remedy = null }) => tell({ type: "refused", code, message, remedy }),
  };
}

/** Reads the word from all that came through the pipe; null when there is none. */
export function readStartingWord(line: string): StartingWord | null {
  return line.endsWith("\n") ? (JSON.parse(line) as StartingWord) : null;
}
