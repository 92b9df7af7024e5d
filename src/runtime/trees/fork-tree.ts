/**
 * Forking: the first rows of a tree become those of a new one, in one commit with the step that says where they came
 * from. Timers, mail, the outbox and the ids of posts stay behind.
 */

import type { Store, TreeRecord } from "../../contracts/store.ts";
import type { DefinitionFacts } from "../../core/values/definition.ts";
import type { ErasedRow } from "../../core/input.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { JournalRow, RunPatch } from "../../core/journal/journal.ts";
import { erasedRows } from "../../core/journal/replay.ts";
import { headRead } from "../../core/journal/row.ts";
import { stateBusy } from "../../core/state.ts";
import { type Stepped, treeFold, treeNew, type TreeSource, treeStep } from "../../core/tree.ts";
import { ErrandError } from "../../errors.ts";
import { type Catalog, catalogOfTree } from "../definitions/catalog.ts";
import { mergePatches, wakeTime } from "../commits/tree-commit.ts";
import { requireFormat } from "./tree-errors.ts";
import type { DefinitionLibrary } from "../definitions/definition-library.ts";
import { definitionHashes, storedRows } from "../journals/stored-rows.ts";

interface Fork {
  readonly store: Store;
  readonly source: TreeSource;
  readonly library: DefinitionLibrary;
  readonly catalog: Catalog;
  readonly origin: TreeRecord;
  /** The last row of the origin that is shared. */
  readonly at: number;
  readonly id: TreeId;
  readonly now: number;
  readonly seed: string;
  readonly salt: string;
  /** The root's definition from here on, if it is to be another one. */
  readonly root: DefinitionFacts | undefined;
}

/** Returns the step that the new tree begins with: what it decided is to be begun. */
export async function forkTree(fork: Fork): Promise<Stepped> {
  const { store, origin } = fork;
  requireFormat(origin);
  if (!Number.isSafeInteger(fork.at) || fork.at < 1 || fork.at >= origin.nextSeq) {
    throw new ErrandError("usage", `The tree has rows 1 to ${origin.nextSeq - 1}; it cannot be forked at ${fork.at}.`);
  }
  const tree = treeNew(fork.source);
  const rows: JournalRow[] = [];
  const patches: RunPatch[] = [];
  const unlike = new Map<number, string | null>();
  for await (const row of storedRows(store, origin.id, fork.at)) {
    await fork.library.readForRow(store, origin.id, row);
    rows.push(row);
    const left = row.body === null ? null : fork.source.sha256(row.body);
    if (left !== (headRead(row.head).body ?? null)) unlike.set(row.seq, left);
    patches.push(...treeFold(tree, row));
  }
  const erased = unlike.size === 0 ? [] : await recordedErasures(fork, unlike);
  const known = tree.state.agents.get(0)?.definition;
  const name = fork.root?.name ?? known?.name ?? "";
  const { facts: catalog } = catalogOfTree(fork.catalog, name);
  const root = catalog.find((facts) => facts.name === name) ?? known;
  if (root === undefined) throw new ErrandError("agent-unknown", `The tree is closed at row ${fork.at}.`);
  const at = Math.max(fork.now, tree.state.at);
  const { hash } = tree;
  const stepped = treeStep(
    tree,
    {
      at,
      seed: fork.seed,
      slots: 0,
      input: {
        type: "tree-forked",
        agent: fork.id,
        origin: origin.id,
        seq: fork.at,
        hash,
        catalog,
        root,
        erased: erased.length === 0 ? undefined : erased,
      },
      texts: [],
    },
    fork.salt,
  );
  const blobs = [];
  for (const facts of [...tree.state.catalog.values(), root, ...(known === undefined ? [] : [known])]) {
    blobs.push({ hash: facts.hash, text: JSON.stringify(fork.library.text(facts.hash)) });
  }
  for (const blob of await originBlobs(fork, rows)) blobs.push(blob);
  await store.commit({
    acknowledged: [],
    trees: [
      {
        tree: fork.id,
        epoch: 1,
        expectedSeq: 1,
        create: { agent: origin.agent, kind: origin.kind, format: origin.format },
        rows: [...rows, stepped.row],
        status: "open",
        wakeAt: wakeTime(tree.state),
        busy: stateBusy(tree.state),
        questions: tree.state.questions.size,
        at,
        blobs,
        runs: mergePatches([...patches, ...stepped.runs]),
        posts: [],
        postsEnded: [],
        outbox: stepped.outgoing.map((message) => ({ ...message, at })),
        erased: [],
      },
    ],
  });
  return stepped;
}

/**
 * Rows whose body does not match the hash in their head because the origin erased texts of it, and recorded that,
 * perhaps after the last row that is shared.
 */
async function recordedErasures(
  { store, origin }: Fork,
  unlike: ReadonlyMap<number, string | null>,
): Promise<readonly ErasedRow[]> {
  const recorded: ErasedRow[] = [];
  for await (const row of storedRows(store, origin.id))
    for (const { seq, hash } of erasedRows(headRead(row.head).input))
      if (unlike.has(seq) && unlike.get(seq) === hash) recorded.push({ seq, hash });
  return recorded;
}

/** The definitions that the shared rows were made from, as the origin holds them. */
async function originBlobs(
  { store, origin }: Fork,
  rows: readonly JournalRow[],
): Promise<{ hash: string; text: string }[]> {
  const hashes = new Set(rows.flatMap((row) => definitionHashes(row)));
  const blobs: { hash: string; text: string }[] = [];
  for (const hash of hashes) {
    const text = await store.blob(origin.id, hash);
    if (text !== null) blobs.push({ hash, text });
  }
  return blobs;
}
