/**
 * Samples for the store's conformance suite: small builders whose defaults are the plainest case.
 */

import { createHash } from "node:crypto";
import type { Commit, TreeCommit } from "../../src/contracts/store.ts";
import type { Mail } from "../../src/contracts/store-messages.ts";
import { asPostId, asTreeId, type TreeId, uuidOf } from "../../src/core/values/ids.ts";
import type { JournalRow, RunRecord } from "../../src/core/journal/journal.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** The n-th id of a kind; ids of one kind sort by their number. */
export function sampleUuid(kind: string, number: number): string {
  return uuidOf(
    1_700_000_000_000 + number,
    sha256(kind)
      .replaceAll(/[^0-9a-f]/g, "")
      .padEnd(16, "7")
      .slice(0, 16),
    number,
  );
}

export const treeNumber = (number: number): TreeId => asTreeId(sampleUuid("tree", number));

export function row(seq: number, text = "text"): JournalRow {
  return { seq, head: JSON.stringify({ seq }), body: JSON.stringify(["salt", text]), hash: sha256(`${seq}${text}`) };
}

/** A part that adds the rows `from` to `to` and nothing else. */
export function part(tree: TreeId, from: number, to: number, over: Partial<TreeCommit> = {}): TreeCommit {
  const rows = Array.from({ length: to - from + 1 }, (_, index) => row(from + index));
  return {
    tree,
    epoch: 1,
    expectedSeq: from,
    rows,
    status: "open",
    wakeAt: null,
    busy: false,
    questions: 0,
    at: 1_000 + to,
    blobs: [],
    runs: [],
    posts: [],
    postsEnded: [],
    outbox: [],
    erased: [],
    ...over,
  };
}

/** A part that makes the tree, with one row. */
export function birth(tree: TreeId, over: Partial<TreeCommit> = {}): TreeCommit {
  return part(tree, 1, 1, { create: { agent: "main", kind: "foreground", format: 1 }, ...over });
}

export function commitOf(...trees: TreeCommit[]): Commit {
  return { trees, acknowledged: [] };
}

export function sampleRun(number: number, over: Partial<RunRecord> = {}): RunRecord {
  return {
    number,
    id: sampleUuid("run", number),
    agent: sampleUuid("child", number),
    parent: 0,
    mode: "background",
    definition: "worker",
    name: `Errand ${number}`,
    state: "queued",
    status: null,
    reason: null,
    report: null,
    nudged: false,
    delivery: "open",
    undeliverable: null,
    group: null,
    cleanup: "keep",
    createdAt: 1_000 + number,
    startedAt: null,
    endedAt: null,
    deadline: null,
    tokens: 0,
    cost: 0,
    createdSeq: 1,
    endedSeq: null,
    ...over,
  };
}

export function sampleMail(tree: TreeId, id: string, content = "hello"): Mail {
  return { tree, id: asPostId(id), hash: sha256(content), payload: JSON.stringify({ content }) };
}
