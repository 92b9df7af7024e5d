/**
 * Short names of trees and runs, which every command takes: `3f9c21` for a tree, `3f9c21/2` for its second run.
 *
 * The beginning of an id is its time, so trees of one hour share it, and the short id is the shortest end of at least
 * six characters that differs from those of all other trees. Should the ends be alike, it is a beginning.
 */

const SHORTEST = 6;
const WHOLE = 36;

export function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const different = [...new Set(ids)];
  const cuts = [(id: string, length: number) => id.slice(-length), (id: string, length: number) => id.slice(0, length)];
  const [end, beginning] = cuts.map((cut) => {
    let length = SHORTEST;
    // An id that is no UUID is never cut.
    while (length < WHOLE && new Set(different.map((id) => cut(id, length))).size < different.length) length += 1;
    return { length, cut };
  });
  const shorter = end !== undefined && beginning !== undefined && end.length > beginning.length ? beginning : end;
  return new Map(different.map((id) => [id, shorter?.cut(id, shorter.length).replaceAll(/^-|-$/g, "") ?? id]));
}

/** The name of a run by that of its tree. */
export function runShort(tree: string, number: number): string {
  return `${tree}/${number}`;
}
