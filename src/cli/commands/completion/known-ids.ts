/**
 * Ids that a shell can offer: `last`, then short ids, the newest tree first, each with a few words about it. So many
 * that looking is quick.
 *
 * Invariant: an id is a part of a UUID, perhaps with the number of a run. What else a store has in its place is not
 * offered, because a shell puts it into a command line.
 */

import type { Store, StoredRun } from "../../../contracts/store.ts";
import { uuidIs } from "../../../core/values/ids.ts";
import { everyTree } from "../../../runtime/trees/every-tree.ts";
import { LAST } from "../../store/find-id.ts";
import { runShort, shortIds } from "../../store/short-ids.ts";
import { statusText, treeWord } from "../../store/state-words.ts";
import { readTitles } from "../../store/titles.ts";
import { fitWidth } from "../../text/display-width.ts";
import { terminalLine } from "../../text/terminal-text.ts";

const TREES = 50;
const RUNS = 200;
const WORDS_WIDTH = 50;

export interface KnownId {
  /** What a user types. */
  readonly short: string;
  /** The whole id. */
  readonly id: string;
  /** What was asked in a tree; the name of a run. */
  readonly title: string | null;
  readonly about: string;
}

export async function knownIds(store: Store, what: "trees" | "ids"): Promise<KnownId[]> {
  const short = shortIds((await everyTree(store)).map(({ id }) => id).filter(uuidIs));
  const trees = (await store.trees({ limit: TREES })).filter(({ id }) => uuidIs(id));
  const runs = what === "trees" ? [] : await store.runs({ limit: RUNS });
  const titles = await readTitles(store, trees);
  const known = trees.flatMap((tree) => {
    const { id } = tree;
    const name = short.get(id) ?? id;
    const { title, words } = titles.get(id) ?? { title: null, words: "" };
    const about = fitWidth(words, WORDS_WIDTH - treeWord(tree).length - 2);
    const own = runs.filter((run) => run.tree === id && uuidIs(run.id));
    return [{ short: name, id, title, about: `${about}, ${treeWord(tree)}` }, ...own.map((run) => runId(name, run))];
  });
  const [newest] = known;
  return newest === undefined ? [] : [{ ...newest, short: LAST }, ...known];
}

function runId(tree: string, run: StoredRun): KnownId {
  const about = fitWidth(terminalLine(`run "${run.name}", ${statusText(run)}`), WORDS_WIDTH);
  return { short: runShort(tree, run.number), id: run.id, title: terminalLine(run.name), about };
}
