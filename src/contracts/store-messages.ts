/** Messages in a store besides the journal: mail for trees, and the outbox of messages for channels. */

import type { AgentNumber, PostId, StepKey, TreeId } from "../core/values/ids.ts";

/** A message for the user that no channel has acknowledged yet. */
export interface OutboxMessage {
  readonly key: StepKey;
  readonly agent: AgentNumber;
  readonly text: string;
  readonly at: number;
}

/** A request of any process to the owner, which takes mail in order of arrival. */
export interface Mail {
  readonly tree: TreeId;
  readonly id: PostId;
  readonly hash: string;
  /** JSON text of an input. */
  readonly payload: string;
}

/** Whether mail was put, was there already, or has an id of other mail. */
export type MailPut = { readonly status: "put" | "known" } | { readonly status: "id-reused" };
