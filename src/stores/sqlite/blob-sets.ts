/**
 * The blobs of trees: the texts of their definitions. Nearly all trees have the same few, so the store has each text
 * once, and a tree names the set of its texts. Every function here runs inside a transaction of its caller.
 *
 * Invariants:
 *  1. A set never changes, because several trees may name it: a tree that gets more texts gets another set.
 *  2. A set that no tree names, and a text in no set, are deleted when trees expire.
 */

import type { Blob } from "../../contracts/store.ts";
import { numberOf } from "../cells.ts";
import { hashCell, hashOf, textCell } from "./cells.ts";
import type { Prepare } from "./connection.ts";

export interface BlobSets {
  /** The key of the set of these blobs; null for none. */
  keyOf(blobs: readonly Blob[]): number | null;
  /** Adds blobs to those of a tree. */
  add(tree: number, blobs: readonly Blob[]): void;
  /** Deletes what no tree has. The caller calls `forget` too. */
  deleteUnused(): void;
  /** Clears the cache: the last writes may have been rolled back. */
  forget(): void;
}

const MOST_CACHED = 100;

export function prepareBlobSets(prepare: Prepare): BlobSets {
  const insert = prepare("insert or ignore into blobs (hash, text) values (?, ?)");
  const selectSet = prepare("select key from blob_sets where name = ?");
  const insertSet = prepare("insert into blob_sets (name) values (?) returning key");
  const insertMember = prepare("insert into blob_members (blob_set, hash) values (?, ?)");
  const members = prepare("select hash from blob_members where blob_set = (select blobs from trees where key = ?)");
  const nameSet = prepare("update trees set blobs = ? where key = ?");
  const deletions = [
    "delete from blob_sets where key not in (select blobs from trees where blobs is not null)",
    "delete from blob_members where blob_set not in (select key from blob_sets)",
    "delete from blobs where hash not in (select hash from blob_members)",
  ].map(prepare);
  /** Keys of sets by their hashes, in the order in which they were given. */
  const cached = new Map<string, number>();

  /** The texts of these hashes are stored already. */
  function setOf(hashes: readonly string[]): number {
    const sorted = [...new Set(hashes)].toSorted();
    const name = textCell(JSON.stringify(sorted));
    const row = selectSet().get(name);
    if (row !== undefined) return numberOf(row, "key");
    const key = numberOf(insertSet().get(name), "key");
    for (const hash of sorted) insertMember().run(key, hashCell(hash));
    return key;
  }

  function put(blobs: readonly Blob[]): string[] {
    for (const { hash, text } of blobs) insert().run(hashCell(hash), textCell(text));
    return blobs.map(({ hash }) => hash);
  }

  return {
    keyOf(blobs) {
      if (blobs.length === 0) return null;
      const order = blobs.map(({ hash }) => hash).join();
      const known = cached.get(order);
      if (known !== undefined) return known;
      const key = setOf(put(blobs));
      if (cached.size >= MOST_CACHED) cached.clear();
      cached.set(order, key);
      return key;
    },
    add(tree, blobs) {
      if (blobs.length === 0) return;
      const present = members().all(tree);
      nameSet().run(setOf([...present.map((row) => hashOf(row, "hash")), ...put(blobs)]), tree);
    },
    deleteUnused() {
      for (const deletion of deletions) deletion().run();
    },
    forget() {
      cached.clear();
    },
  };
}
