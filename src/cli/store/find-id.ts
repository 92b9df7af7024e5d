/**
 * Finds the tree or the run that a user typed.
 *
 * Invariants:
 *  1. A whole id is looked up. Any other text of at least six characters is the beginning of one.
 *  2. A beginning that fits several trees or runs is an error that names them. A run is known by its own id and by that
 *     of its child. Of a run that forks repeat, the one in the oldest tree is meant.
 */

import type { Store, StoredRun, TreeRecord } from "../../contracts/store.ts";
import { asTreeId, uuidIs } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import { everyTree } from "../../runtime/trees/every-tree.ts";
import { type StoreScope, scopeName } from "./scope.ts";

export type Found =
  | { readonly kind: "tree"; readonly tree: TreeRecord }
  | { readonly kind: "run"; readonly tree: TreeRecord; readonly run: StoredRun };

const BEGINNING = /^[0-9a-f][0-9a-f-]{5,35}$/;
const CANDIDATES = 4;

export async function findId(store: Store, given: string, scope: StoreScope): Promise<Found> {
  const text = given.trim().toLowerCase();
  if (!BEGINNING.test(text)) {
    throw new ErrandError("usage", `"${given}" is no id, nor the beginning of one of at least 6 characters`, {
      remedy: "errand ps --all lists the trees, and errand show TREE its runs.",
    });
  }
  const found = uuidIs(text) ? await whole(store, text) : await beginning(store, text);
  if (found !== null) return found;
  throw new ErrandError("tree-unknown", `There is no tree or run ${text} in ${scopeName(scope)}`, {
    remedy: "errand ps --all lists the trees, and errand show TREE its runs.",
  });
}

async function whole(store: Store, id: string): Promise<Found | null> {
  const tree = await store.tree(asTreeId(id));
  if (tree !== null) return { kind: "tree", tree };
  const run = (await store.run(id)) ?? (await store.runOfAgent(id));
  return run === null ? null : ofRun(store, run);
}

async function ofRun(store: Store, run: StoredRun): Promise<Found> {
  const tree = await store.tree(run.tree);
  if (tree === null) throw new ErrandError("store-corrupt", `The tree ${run.tree} of run ${run.id} is missing`);
  return { kind: "run", tree, run };
}

async function beginning(store: Store, text: string): Promise<Found | null> {
  const trees = (await everyTree(store)).filter((tree) => tree.id.startsWith(text));
  const runs = new Map<string, StoredRun>();
  // The newest tree comes first, so the run of the oldest one stays.
  for (const run of await store.runs({ limit: Number.MAX_SAFE_INTEGER })) {
    if (run.id.startsWith(text) || run.agent.startsWith(text)) runs.set(run.id, run);
  }
  const names = [...trees.map(({ id }) => `tree ${id}`), ...[...runs.keys()].map((id) => `run ${id}`)];
  if (names.length > 1) throw ambiguous(text, names);
  const [tree] = trees;
  if (tree !== undefined) return { kind: "tree", tree };
  const [run] = runs.values();
  return run === undefined ? null : ofRun(store, run);
}

function ambiguous(text: string, names: readonly string[]): ErrandError {
  const shown = names.slice(0, CANDIDATES).join(", ");
  const more = names.length > CANDIDATES ? `, and ${names.length - CANDIDATES} more` : "";
  return new ErrandError("usage", `"${text}" is the beginning of ${names.length} ids: ${shown}${more}`, {
    remedy: "Type more of the id that you mean.",
  });
}
