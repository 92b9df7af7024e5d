/**
 * Ids that a shell can offer, newest tree first, each with a few words about it. So many that looking is quick.
 *
 * Invariant: an id is a UUID. What else a store has in its place is not offered, because a shell puts it into a command
 * line.
 */

import type { Store, StoredRun, TreeRecord } from "../../../contracts/store.ts";
import { uuidIs } from "../../../core/values/ids.ts";
import { statusText, treeWord } from "../../store/state-words.ts";
import { fitWidth } from "../../text/display-width.ts";
import { terminalLine } from "../../text/terminal-text.ts";

const TREES = 50;
const RUNS = 200;
const WORDS_WIDTH = 50;

export interface KnownId {
  readonly id: string;
  readonly about: string;
}

export async function knownIds(store: Store, what: "trees" | "ids"): Promise<KnownId[]> {
  const trees = await store.trees({ limit: TREES });
  const runs = what === "trees" ? [] : await store.runs({ limit: RUNS });
  return trees
    .flatMap((tree) => [treeId(tree), ...runs.filter((run) => run.tree === tree.id).map(runId)])
    .filter(({ id }) => uuidIs(id));
}

function treeId(tree: TreeRecord): KnownId {
  return { id: tree.id, about: words(`tree ${tree.agent}, ${treeWord(tree)}`) };
}

function runId(run: StoredRun): KnownId {
  return { id: run.id, about: words(`run "${run.name}", ${statusText(run)}`) };
}

function words(text: string): string {
  return fitWidth(terminalLine(text), WORDS_WIDTH);
}
