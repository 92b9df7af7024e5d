/**
 * What the store in memory holds.
 */

import type { Mail, OutboxMessage, PostRecord, Snapshot, TreeRecord } from "../../contracts/store.ts";
import type { PostId, RunNumber, StepKey, TreeId } from "../../core/ids.ts";
import type { JournalRow, RunRecord } from "../../core/journal.ts";

export interface MemoryTree {
  record: TreeRecord;
  readonly rows: JournalRow[];
  readonly blobs: Map<string, string>;
  readonly runs: Map<RunNumber, RunRecord>;
  readonly outbox: Map<StepKey, OutboxMessage>;
  snapshot: Snapshot | null;
}

/** A post is mail until a commit records it. */
export interface MemoryPost {
  readonly hash: string;
  readonly mail: Mail | null;
  readonly record: PostRecord | null;
}

/** Posts stand apart from trees: mail may name a tree that is not made yet. */
export interface MemoryState {
  readonly trees: Map<TreeId, MemoryTree>;
  readonly posts: Map<TreeId, Map<PostId, MemoryPost>>;
}
