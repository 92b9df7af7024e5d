/** Suggests known names for one that was mistyped. */

const SUGGESTIONS = 3;

/** `; did you mean model or store?`, or nothing. */
export function didYouMean(typed: string, names: readonly string[]): string {
  const wanted = typed.toLowerCase();
  const near = names
    .map((name) => ({ name, distance: distanceTo(name, wanted) }))
    .filter(({ distance }) => distance <= Math.ceil(wanted.length / 3))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, SUGGESTIONS)
    .map(({ name }) => name);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
}

/** The last part of a dotted name may be meant too. A prefix is nearer than a typing error. */
function distanceTo(name: string, wanted: string): number {
  const whole = name.toLowerCase();
  const last = whole.slice(whole.lastIndexOf(".") + 1);
  if (wanted.length > 1 && (whole.startsWith(wanted) || last.startsWith(wanted))) return 0;
  return Math.min(editDistance(whole, wanted), editDistance(last, wanted));
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...a].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...b].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
