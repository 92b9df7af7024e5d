/**
 * The model `offline/paced`: the rehearsal for demos. It waits before each reply, answers in a few lines, and its child
 * that reads the source forgets to report until it is nudged.
 *
 * Invariant: the wait follows from the request alone, like the reply.
 */

import type { ModelRequest } from "../../contracts/model.ts";
import { pause } from "../waiting.ts";
import type { World } from "../../contracts/world.ts";
import { NUDGE_TOOL } from "../../core/text/prompts/nudges.ts";
import { abortedCall } from "../../models/local-reply.ts";
import { type ComposeAnswer, composeBriefly } from "./answer.ts";
import { childIs, type Move } from "./child.ts";
import { type Question, questionsOfChild } from "./questions.ts";

export interface Pacing {
  readonly compose: ComposeAnswer;
  /** The move instead of the usual one. */
  change(usual: Move, request: ModelRequest): Move;
  /** Resolves when the reply is due. Rejects when the signal aborts. */
  wait(request: ModelRequest, signal: AbortSignal): Promise<void>;
}

/** Milliseconds for each model call. Children with different questions end one after the other. */
const ROOT_MS = 400;
const CHILD_MS: Readonly<Record<Question["kind"], number>> = {
  map: 500,
  describe: 600,
  read: 600,
  tests: 800,
  search: 800,
  source: 900,
};

export function createPacing(world: Pick<World, "after">): Pacing {
  return {
    compose: composeBriefly,
    async wait(request, signal) {
      await pause(world, childIs(request) ? CHILD_MS[kindOf(request)] : ROOT_MS, signal).catch(() => {
        throw abortedCall();
      });
    },
    change(usual, request) {
      const reports = "act" in usual && usual.act.some(({ name }) => name === "send_agent_message");
      const forgets = reports && childIs(request) && kindOf(request) === "source" && !nudged(request);
      return forgets ? { say: "I have looked into the source." } : usual;
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
