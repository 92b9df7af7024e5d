/**
 * Finds the tree or the run that a user typed.
 *
 * Invariants:
 *  1. A whole id is looked up. `last` is the newest tree. Any other text of at least six characters is the beginning or
 *     the end of an id. `TREE/N` is the n-th run of the tree.
 *  2. A text that fits several trees or runs, or none, is an error that names those that may be meant, with their
 *     titles. A run is known by its own id and by that of its child. Of a run that forks repeat, the one in the oldest
 *     tree is meant.
 */

import type { Store, StoredRun, TreeRecord } from "../../contracts/store.ts";
import { asTreeId, uuidIs } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import { everyTree } from "../../runtime/trees/every-tree.ts";
import { fitWidth } from "../text/display-width.ts";
import { terminalLine } from "../text/terminal-text.ts";
import { type StoreScope, scopeName } from "./scope.ts";
import { runShort, shortIds } from "./short-ids.ts";
import { readTitle } from "./titles.ts";

export type Found =
  | { readonly kind: "tree"; readonly tree: TreeRecord }
  | { readonly kind: "run"; readonly tree: TreeRecord; readonly run: StoredRun };

/** The newest tree, by this word. */
export const LAST = "last";
/** How many characters of an id must be typed. */
export const SHORTEST_PART = 6;
const PART = /^[0-9a-f-]{6,36}$/;
const RUN_OF_TREE = /^(.+)\/([1-9]\d{0,8})$/;
const CANDIDATES = 3;
const TITLE_WIDTH = 40;

export async function findId(store: Store, given: string, scope: StoreScope): Promise<Found> {
  const text = given.trim().toLowerCase();
  const [, part = text, number] = RUN_OF_TREE.exec(text) ?? [];
  if (part !== LAST && !PART.test(part)) {
    throw new ErrandError("usage", `"${given}" is no id: type at least 6 characters of its beginning or its end`, {
      remedy: await newestTrees(store),
    });
  }
  const [found, ...others] = await fitting(store, part, number === undefined);
  if (found === undefined) {
    throw new ErrandError(
      "tree-unknown",
      `There is no tree${number === undefined ? " or run" : ""} ${part} in ${scopeName(scope)}`,
      {
        remedy: await newestTrees(store),
      },
    );
  }
  if (others.length > 0) {
    const shown = await candidates(store, [found, ...others]);
    throw new ErrandError("usage", `"${part}" fits ${others.length + 1} ids`, { remedy: `Do you mean ${shown}?` });
  }
  return number === undefined ? found : runOfTree(store, found.tree, Number(number));
}

/** True if a user who typed this part of an id may mean the id. */
export function idFits(id: string, part: string): boolean {
  return id.startsWith(part) || id.endsWith(part);
}

async function fitting(store: Store, part: string, alsoRuns: boolean): Promise<readonly Found[]> {
  if (part === LAST) return (await store.trees({ limit: 1 })).map((tree) => ({ kind: "tree", tree }));
  if (uuidIs(part)) {
    const tree = await store.tree(asTreeId(part));
    if (tree !== null) return [{ kind: "tree", tree }];
    const run = alsoRuns ? ((await store.run(part)) ?? (await store.runOfAgent(part))) : null;
    return run === null ? [] : [await ofRun(store, run)];
  }
  const trees = (await everyTree(store)).filter((tree) => idFits(tree.id, part));
  const runs = new Map<string, StoredRun>();
  // The newest tree comes first, so the run of the oldest one stays.
  for (const run of alsoRuns ? await store.runs({ limit: Number.MAX_SAFE_INTEGER }) : []) {
    if (idFits(run.id, part) || idFits(run.agent, part)) runs.set(run.id, run);
  }
  const found = trees.map((tree): Found => ({ kind: "tree", tree }));
  for (const run of runs.values()) found.push(await ofRun(store, run));
  return found;
}

async function ofRun(store: Store, run: StoredRun): Promise<Found> {
  const tree = await store.tree(run.tree);
  if (tree === null) throw new ErrandError("store-corrupt", `The tree ${run.tree} of run ${run.id} is missing`);
  return { kind: "run", tree, run };
}

async function runOfTree(store: Store, tree: TreeRecord, number: number): Promise<Found> {
  const runs = await store.runs({ tree: tree.id, limit: Number.MAX_SAFE_INTEGER });
  const run = runs.find((one) => one.number === number);
  if (run !== undefined) return { kind: "run", tree, run };
  const there =
    runs.length === 0 ? "it has none" : `it has ${runs.length === 1 ? "run 1" : `runs 1 to ${runs.length}`}`;
  const { words } = await readTitle(store, tree);
  throw new ErrandError("run-unknown", `The tree ${tree.id} has no run ${number}: ${there}`, {
    remedy: `It is ${quoted(words)}. errand show ${tree.id} lists its runs.`,
  });
}

/** What a user who mistyped an id may have meant. */
async function newestTrees(store: Store): Promise<string> {
  const newest = await store.trees({ limit: CANDIDATES });
  if (newest.length === 0) return 'There are no trees yet; errand run "your task" makes one.';
  const shown = await candidates(
    store,
    newest.map((tree) => ({ kind: "tree", tree })),
  );
  return `The newest: ${shown}. errand ps --all lists all trees, and errand show TREE its runs.`;
}

async function candidates(store: Store, found: readonly Found[]): Promise<string> {
  const short = shortIds((await everyTree(store)).map(({ id }) => id));
  const words: string[] = [];
  for (const one of found.slice(0, CANDIDATES)) {
    const tree = short.get(one.tree.id) ?? one.tree.id;
    const [name, title] =
      one.kind === "run"
        ? [runShort(tree, one.run.number), one.run.name]
        : [tree, (await readTitle(store, one.tree)).words];
    words.push(`${name} ${quoted(title)}`);
  }
  const more = found.length - words.length;
  if (more > 0) words.push(`one of ${more} more`);
  const last = words.pop() ?? "";
  return words.length === 0 ? last : `${words.join(", ")} or ${last}`;
}

function quoted(title: string): string {
  const line = fitWidth(terminalLine(title), TITLE_WIDTH);
  return line.startsWith("(") ? line : `"${line}"`;
}
