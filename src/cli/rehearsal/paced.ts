/**
 * Owns the manner of `offline/paced`: the rehearsal for an audience. It takes its time, answers in a few lines, and the child that looks into
 * the source forgets to report until it is nudged.
 *
 * Invariants:
 *  1. When a reply is due follows from the request alone, as the reply does.
 *  2. A child that was nudged reports: it forgets once.
 */

import type { ModelRequest } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import { NUDGE_TOOL } from "../../core/text/prompts/nudges.ts";
import { abortedCall } from "../../models/local-reply.ts";
import { type ComposeAnswer, composeBriefly } from "./answer.ts";
import { childIs, type Move } from "./child.ts";
import { type Question, questionsOfChild } from "./parts.ts";

/** How a rehearsal for an audience differs from the usual one. */
export interface Manner {
  readonly compose: ComposeAnswer;
  /** What is done instead of the usual move. `request` holds what was said, without the runtime's notes. */
  move(request: ModelRequest, usual: Move): Move;
  /** Resolves when the reply is due; rejects when the signal aborts. */
  due(request: ModelRequest, signal: AbortSignal): Promise<void>;
}

/** Milliseconds for each model call. Children that ask different things end one after the other. */
const ROOT_MS = 400;
const CHILD_MS: Readonly<Record<Question["kind"], number>> = {
  map: 500,
  describe: 600,
  read: 600,
  tests: 800,
  search: 800,
  source: 900,
};
const FORGETFUL: Question["kind"] = "source";

export function createPacedManner(world: Pick<World, "after">): Manner {
  return {
    compose: composeBriefly,
    due: (request, signal) => pause(world, childIs(request) ? CHILD_MS[kindOf(request)] : ROOT_MS, signal),
    move(request, usual) {
      const forgets = childIs(request) && kindOf(request) === FORGETFUL && !nudged(request);
      return forgets && reports(usual) ? { say: "I have looked into the source." } : usual;
    },
  };
}

function kindOf({ messages }: ModelRequest): Question["kind"] {
  const task = messages.find((message) => message.role === "user");
  return questionsOfChild(task?.role === "user" ? task.text : "")[0]?.kind ?? "search";
}

function nudged({ messages }: ModelRequest): boolean {
  return messages.some((message) => message.role === "user" && message.text.startsWith(NUDGE_TOOL));
}

function reports(move: Move): boolean {
  return "act" in move && move.act.some(({ name }) => name === "send_agent_message");
}

function pause(world: Pick<World, "after">, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopped = (): void => {
      cancel();
      reject(abortedCall());
    };
    const cancel = world.after(milliseconds, () => {
      signal.removeEventListener("abort", stopped);
      resolve();
    });
    signal.addEventListener("abort", stopped, { once: true });
  });
}
