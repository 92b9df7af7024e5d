/**
 * The texts of trees' definitions. Nearly all trees have the same few, so each text stands in the store once, and a tree names the set of those that are
 * its own. Every function here runs inside a transaction of its caller.
 *
 * Invariants:
 *  1. A set is never changed, because other trees may have it: a tree that gets more texts gets another set.
 *  2. A set that no tree names, and a text that is in no set, goes when trees expire.
 */

import type { Blob } from "../../contracts/store.ts";
import { numberOf } from "../cells.ts";
import { hashCell, hashOf, textCell } from "./cells.ts";
import type { Prepare } from "./connection.ts";

export interface BlobSets {
  /** The key of the set of these; null for none. */
  keyOf(blobs: readonly Blob[]): number | null;
  /** Gives a tree these besides those that it has. */
  add(tree: number, blobs: readonly Blob[]): void;
  /** Removes what no tree has any more. Whoever calls it calls `forget` too. */
  collect(): void;
  /** What was written last may have been undone. */
  forget(): void;
}

const REMEMBERED = 100;

export function prepareBlobSets(prepare: Prepare): BlobSets {
  const put = prepare("insert or ignore into blobs (hash, text) values (?, ?)");
  const known = prepare("select key from blob_sets where name = ?");
  const make = prepare("insert into blob_sets (name) values (?) returning key");
  const join = prepare("insert into blob_members (blob_set, hash) values (?, ?)");
  const members = prepare("select hash from blob_members where blob_set = (select blobs from trees where key = ?)");
  const give = prepare("update trees set blobs = ? where key = ?");
  const collectors = [
    "delete from blob_sets where key not in (select blobs from trees where blobs is not null)",
    "delete from blob_members where blob_set not in (select key from blob_sets)",
    "delete from blobs where hash not in (select hash from blob_members)",
  ].map(prepare);
  const remembered = new Map<string, number>();

  /** The texts of these hashes are stored already. */
  function setOf(hashes: readonly string[]): number {
    const sorted = [...new Set(hashes)].toSorted();
    const name = JSON.stringify(sorted);
    const row = known().get(textCell(name));
    if (row !== undefined) return numberOf(row, "key");
    const key = numberOf(make().get(textCell(name)), "key");
    for (const hash of sorted) join().run(key, hashCell(hash));
    return key;
  }

  function putAll(blobs: readonly Blob[]): string[] {
    for (const { hash, text } of blobs) put().run(hashCell(hash), textCell(text));
    return blobs.map(({ hash }) => hash);
  }

  return {
    keyOf(blobs) {
      if (blobs.length === 0) return null;
      const order = blobs.map(({ hash }) => hash).join();
      const last = remembered.get(order);
      if (last !== undefined) return last;
      const key = setOf(putAll(blobs));
      if (remembered.size >= REMEMBERED) remembered.clear();
      remembered.set(order, key);
      return key;
    },
    add(tree, blobs) {
      if (blobs.length === 0) return;
      const has = members().all(tree);
      give().run(setOf([...has.map((row) => hashOf(row, "hash")), ...putAll(blobs)]), tree);
    },
    collect() {
      for (const collector of collectors) collector().run();
    },
    forget() {
      remembered.clear();
    },
  };
}
