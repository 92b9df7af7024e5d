/**
 * The titles of trees: what was asked first, on one line. They are read from the first rows of the journals, so a text
 * that was erased is in no title either.
 */

import type { Store, TreeRecord } from "../../contracts/store.ts";
import { codePointsPrefix } from "../../core/text/index.ts";
import { firstAsked } from "../../view/title.ts";
import { treeEventOf } from "../../view/tree-event.ts";
import { fitWidth } from "../text/display-width.ts";
import { terminalLine } from "../text/terminal-text.ts";

/** The rows of a tree among which its first message is. */
const FIRST_ROWS = 8;
const READ_AT_A_TIME = 16;
/** In code points. No more of a long message is looked at. */
const READ_LENGTH = 1_000;
const WIDEST = 80;

export interface Title {
  /** Sanitised, at most 80 columns wide; null if there is none. */
  readonly title: string | null;
  /** The title, or why there is none. */
  readonly words: string;
}

/** The titles by the ids of the trees. */
export async function readTitles(store: Store, trees: readonly TreeRecord[]): Promise<ReadonlyMap<string, Title>> {
  const titles = new Map<string, Title>();
  for (let from = 0; from < trees.length; from += READ_AT_A_TIME) {
    const page = trees.slice(from, from + READ_AT_A_TIME);
    const read = await Promise.all(page.map((tree) => readTitle(store, tree)));
    for (const [index, { id }] of page.entries()) titles.set(id, read[index] ?? none("unreadable"));
  }
  return titles;
}

export async function readTitle(store: Store, tree: TreeRecord): Promise<Title> {
  if (tree.status === "expired") return none("expired");
  const rows = await store.rows(tree.id, 1, FIRST_ROWS);
  try {
    const { found, text } = firstAsked(rows.map((row) => treeEventOf(tree.id, row)));
    if (text === null) return none(found ? "its text is gone" : "nothing was asked yet");
    const title = fitWidth(terminalLine(codePointsPrefix(text, READ_LENGTH)), WIDEST);
    return title === "" ? none("an empty message") : { title, words: title };
  } catch {
    // A list shows the other trees too. The commands that read this one say what is wrong with it.
    return none("unreadable");
  }
}

function none(why: string): Title {
  return { title: null, words: `(${why})` };
}
