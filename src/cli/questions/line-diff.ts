/**
 * The difference of two texts by lines, as a unified diff. Pure.
 *
 * Invariants:
 *  1. Applied to `before` it gives `after`: no change is left out.
 *  2. Time and memory are bounded. If texts differ in more than EDITS lines, all lines between their common beginning
 *     and end are shown as removed and added.
 */

export interface DiffLine {
  readonly kind: "same" | "added" | "removed" | "place" | "remark";
  readonly text: string;
}

const CONTEXT = 3;
const EDITS = 400;
const NO_LINE: Line = { text: "", ended: true };
const NO_LINE_END = "\\ No newline at end of file";

type Edit = { readonly kind: "same" | "added" | "removed"; readonly text: string; readonly ended: boolean };

interface Line {
  readonly text: string;
  /** False for a last line without a line end. */
  readonly ended: boolean;
}

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  if (before === after) return [];
  const a = linesOf(before);
  const b = linesOf(after);
  let head = 0;
  while (head < a.length && head < b.length && sameLine(a[head], b[head])) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && sameLine(a.at(-1 - tail), b.at(-1 - tail))) tail += 1;
  const edits: Edit[] = [
    ...a.slice(Math.max(0, head - CONTEXT), head).map(same),
    ...shortestEdits(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail, a.length - tail + CONTEXT).map(same),
  ];
  return hunks(edits, Math.max(0, head - CONTEXT));
}

function linesOf(text: string): Line[] {
  if (text === "") return [];
  const parts = text.split("\n");
  const last = parts.pop() ?? "";
  const lines: Line[] = parts.map((part) => ({ text: part, ended: true }));
  if (last !== "") lines.push({ text: last, ended: false });
  return lines;
}

function sameLine(a: Line | undefined, b: Line | undefined): boolean {
  return a?.text === b?.text && a?.ended === b?.ended;
}

const same = (line: Line): Edit => ({ kind: "same", ...line });
const added = (line: Line): Edit => ({ kind: "added", ...line });
const removed = (line: Line): Edit => ({ kind: "removed", ...line });

/** A shortest path of edits up to a position in both texts. */
interface Path {
  readonly x: number;
  readonly y: number;
  /** The last edit, after `previous`; then come `common` lines that are in both texts. */
  readonly edit: Edit | null;
  readonly previous: Path | null;
  readonly common: number;
}

/** The shortest path of edits (Myers' algorithm); if it is long, all lines of both texts. */
function shortestEdits(a: readonly Line[], b: readonly Line[]): readonly Edit[] {
  /** Follows the common lines from a place. */
  function follow(x: number, y: number, edit: Edit | null, previous: Path | null): Path {
    let common = 0;
    while (x + common < a.length && y + common < b.length && sameLine(a[x + common], b[y + common])) common += 1;
    return { x: x + common, y: y + common, edit, previous, common };
  }

  /** By x - y: the path that has come farthest. */
  const farthest = new Map<number, Path>();
  for (let edits = 0; edits <= EDITS; edits += 1) {
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const above = farthest.get(diagonal + 1);
      const left = farthest.get(diagonal - 1);
      let path: Path;
      if (above !== undefined && (left === undefined || left.x < above.x))
        path = follow(above.x, above.y + 1, added(b[above.y] ?? NO_LINE), above);
      else if (left !== undefined) path = follow(left.x + 1, left.y, removed(a[left.x] ?? NO_LINE), left);
      else path = follow(0, 0, null, null);
      farthest.set(diagonal, path);
      if (path.x >= a.length && path.y >= b.length) return editsOf(path, a);
    }
  }
  return [...a.map(removed), ...b.map(added)];
}

function editsOf(path: Path, a: readonly Line[]): readonly Edit[] {
  const edits: Edit[] = [];
  for (let at: Path | null = path; at !== null; at = at.previous) {
    for (const line of a.slice(at.x - at.common, at.x).toReversed()) edits.push(same(line));
    if (at.edit !== null) edits.push(at.edit);
  }
  return edits.toReversed();
}

/** Groups of edits, with the lines around them. `skipped`: how many common lines come before the first edit. */
function hunks(edits: readonly Edit[], skipped: number): readonly DiffLine[] {
  const near = new Uint8Array(edits.length);
  for (const [index, edit] of edits.entries())
    if (edit.kind !== "same") near.fill(1, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  const lines: DiffLine[] = [];
  let before = skipped;
  let after = skipped;
  for (let index = 0; index < edits.length; index += 1) {
    if (near[index] !== 1) {
      before += 1;
      after += 1;
      continue;
    }
    const end = near.indexOf(0, index);
    const hunk = edits.slice(index, end === -1 ? edits.length : end);
    const oldCount = hunk.filter(({ kind }) => kind !== "added").length;
    const newCount = hunk.filter(({ kind }) => kind !== "removed").length;
    lines.push({ kind: "place", text: `@@ -${range(before, oldCount)} +${range(after, newCount)} @@` });
    for (const { kind, text, ended } of hunk) {
      lines.push({ kind, text });
      if (!ended) lines.push({ kind: "remark", text: NO_LINE_END });
    }
    before += oldCount;
    after += newCount;
    index += hunk.length - 1;
  }
  return lines;
}

function range(start: number, count: number): string {
  return count === 0 ? `${start},0` : `${start + 1},${count}`;
}
