/** The trees of a store, read page by page. */

import type { Store, TreeQuery, TreeRecord } from "../../contracts/store.ts";

const TREES_AT_A_TIME = 1_000;

/** All trees that the query names, newest first. */
export async function everyTree(
  store: Store,
  query: Omit<TreeQuery, "before" | "limit"> = {},
): Promise<readonly TreeRecord[]> {
  const found: TreeRecord[] = [];
  for (let last: TreeRecord | undefined, more = true; more;) {
    const before = last === undefined ? {} : { before: last.id };
    const page = await store.trees({ ...query, ...before, limit: TREES_AT_A_TIME });
    found.push(...page);
    last = page.at(-1);
    more = page.length === TREES_AT_A_TIME;
  }
  return found;
}
