/**
 * Keys that number the rows of a table by their tree and their place in it, in one integer of SQLite: what belongs to a tree stands together, in
 * order, and needs no index beside the table. They are made and taken apart by SQL alone: a JavaScript number does not hold them all.
 */

/** The key of a place in a tree, both as SQL. */
export function placeKey(tree: string, place: string): string {
  return `((${tree} << 32) | ${place})`;
}

/** True for keys of that tree, from the place on. */
export function placesOf(tree: string, key: string, from = "0"): string {
  return `${key} >= ${placeKey(tree, from)} and ${key} < ((${tree} + 1) << 32)`;
}
