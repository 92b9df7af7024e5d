/** A message from outside, as the input that brings it to an agent, and why it may not be taken. */

import { INBOX_FULL } from "../../core/inbox/inbox.ts";
import type { PostId } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import type { PostInput } from "./mail.ts";

/** How a message is posted. */
export interface PostOptions {
  /** Makes the message idempotent: posting again under the same id gives the first post's result. */
  readonly id?: string;
  /**
   * `user` (default): a request of the user. `system`: an internal update, no request. `steer`: spoken into the turn
   * under way, before its next iteration; starts a turn of an idle agent.
   */
  readonly kind?: "user" | "system" | "steer";
  /** True, for a system message: it joins the context and causes no inference. */
  readonly silent?: boolean;
}

/** The reason for the sender why a message was not taken. */
export function notTaken(agent: string, reason: string): ErrandError {
  const code = reason === INBOX_FULL ? "inbox-full" : "agent-unknown";
  const remedy =
    code === "inbox-full"
      ? "Wait until the agent has read some of its messages, then send it again; or raise limits.inboxMessages."
      : "errand ps --all lists the trees that can be written to.";
  return new ErrandError(code, `Agent ${agent} did not take the message: ${reason}.`, { remedy });
}

/** The input that brings a message to an agent of a tree. */
export function postedMessage(
  id: PostId,
  to: number,
  text: string,
  { kind = "user", silent = false }: PostOptions = {},
): PostInput {
  if (text === "") throw new ErrandError("usage", "A message must not be empty.");
  if (silent && kind !== "system") throw new ErrandError("usage", "Only a system message can be silent.");
  return { type: "message-posted", id, to, kind, ...(silent ? { silent } : {}), size: text.length };
}
