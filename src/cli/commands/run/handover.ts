/**
 * What `errand run --detach` and its background process tell each other. The process reads its task on standard input,
 * and answers with one line on a pipe of its own, once the task is durable or cannot be taken.
 */

import { closeSync, fstatSync, writeSync } from "node:fs";
import { ErrandError } from "../../../errors.ts";
import type { Problem } from "../../problem.ts";
import type { StoreScope } from "../../store/scope.ts";

export interface BackgroundTask {
  readonly task: string;
  readonly scope: StoreScope;
}

export function readTask(text: string): BackgroundTask {
  try {
    const { task, scope } = JSON.parse(text) as Partial<BackgroundTask>;
    if (typeof task === "string" && typeof scope === "object") return { task, scope };
  } catch {
    // A user has typed the hidden option.
  }
  throw new ErrandError("usage", "--detached is for Errand itself", {
    remedy: "For a task in the background: --detach.",
  });
}

export type BackgroundAnswer =
  | { readonly type: "accepted"; readonly tree: string }
  | { readonly type: "refused"; readonly code: string; readonly message: string; readonly remedy: string | null };

/** The descriptor of the pipe in the background process. */
export const ANSWER_DESCRIPTOR = 3;

/** The side of the background process. Only the first answer is sent. */
export interface Answerer {
  accepted(tree: string): void;
  /** False if another answer was sent before. */
  refused(problem: Problem): boolean;
}

export function createAnswerer(): Answerer {
  let answered = false;
  function send(answer: BackgroundAnswer): boolean {
    if (answered) return false;
    answered = true;
    try {
      // If a user has typed the hidden option, the descriptor is something else and must not be written to.
      if (!fstatSync(ANSWER_DESCRIPTOR).isSocket()) return true;
      writeSync(ANSWER_DESCRIPTOR, `${JSON.stringify(answer)}\n`);
      closeSync(ANSWER_DESCRIPTOR);
    } catch {
      // The command has ended. The work goes on without it.
    }
    return true;
  }
  return {
    accepted: (tree) => void send({ type: "accepted", tree }),
    refused: ({ code, message, remedy = null }) => send({ type: "refused", code, message, remedy }),
  };
}

/** The answer in all that came through the pipe; null if there is none. */
export function readAnswer(line: string): BackgroundAnswer | null {
  return line.endsWith("\n") ? (JSON.parse(line) as BackgroundAnswer) : null;
}
