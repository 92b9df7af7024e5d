/**
 * The difference of two texts by lines, as a unified diff shows it. Pure.
 *
 * Invariants:
 *  1. Applying it to `before` gives `after`: nothing that changes is left out.
 *  2. Time and memory are bounded: texts that differ in more than EDITS lines are shown as removed and added as a whole, between what they have in
 *     common at their beginning and end.
 */

export interface DiffLine {
  readonly kind: "same" | "added" | "removed" | "place" | "remark";
  readonly text: string;
}

const CONTEXT = 3;
const EDITS = 400;
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
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
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

/** The shortest way from one to the other (Myers), or all of both where that is long. */
function middle(a: readonly Line[], b: readonly Line[]): readonly Edit[] {
  const most = Math.min(EDITS, a.length + b.length);
  const trace: Int32Array[] = [];
  let reach = new Int32Array(2 * most + 3);
  const at = (k: number): number => k + most + 1;
  for (let steps = 0; steps <= most; steps += 1) {
    trace.push(reach.slice());
    for (let k = -steps; k <= steps; k += 2) {
      const down = k === -steps || (k !== steps && value(reach, at(k - 1)) < value(reach, at(k + 1)));
      let x = down ? value(reach, at(k + 1)) : value(reach, at(k - 1)) + 1;
      while (x < a.length && x - k < b.length && sameLine(a[x], b[x - k])) x += 1;
      reach[at(k)] = x;
      if (x >= a.length && x - k >= b.length) return wayBack(a, b, trace, at);
    }
    reach = reach.slice();
  }
  return [...a.map(removed), ...b.map(added)];
}

function wayBack(
  a: readonly Line[],
  b: readonly Line[],
  trace: readonly Int32Array[],
  at: (k: number) => number,
): readonly Edit[] {
  const edits: Edit[] = [];
  let x = a.length;
  let y = b.length;
  for (let steps = trace.length - 1; steps >= 0; steps -= 1) {
    const reach = trace[steps] ?? new Int32Array();
    const k = x - y;
    const down = k === -steps || (k !== steps && value(reach, at(k - 1)) < value(reach, at(k + 1)));
    const fromX = steps === 0 ? 0 : value(reach, at(down ? k + 1 : k - 1));
    const fromY = steps === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      edits.push(same(lineAt(a, x)));
    }
    if (steps === 0) break;
    if (down) edits.push(added(lineAt(b, (y -= 1))));
    else edits.push(removed(lineAt(a, (x -= 1))));
  }
  return edits.toReversed();
}

function lineAt(lines: readonly Line[], index: number): Line {
  return lines[index] ?? { text: "", ended: true };
}

function value(reach: Int32Array, index: number): number {
  return reach[index] ?? 0;
}

/** Groups of changes with what stands around them. `first`: how many lines stand before the first edit, in both. */
function hunks(edits: readonly Edit[], first: number): readonly DiffLine[] {
  const near = new Uint8Array(edits.length);
  for (const [index, edit] of edits.entries())
    if (edit.kind !== "same") near.fill(1, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  const lines: DiffLine[] = [];
  let old = first;
  let now = first;
  for (let index = 0; index < edits.length; index += 1) {
    if (near[index] !== 1) {
      old += 1;
      now += 1;
      continue;
    }
    const end = near.indexOf(0, index);
    const hunk = edits.slice(index, end === -1 ? edits.length : end);
    const oldCount = hunk.filter(({ kind }) => kind !== "added").length;
    const nowCount = hunk.filter(({ kind }) => kind !== "removed").length;
    lines.push({ kind: "place", text: `@@ -${range(old, oldCount)} +${range(now, nowCount)} @@` });
    for (const { kind, text, ended } of hunk) {
      lines.push({ kind, text });
      if (!ended) lines.push({ kind: "remark", text: NO_LINE_END });
    }
    old += oldCount;
    now += nowCount;
    index += hunk.length - 1;
  }
  return lines;
}

function range(before: number, count: number): string {
  return count === 0 ? `${before},0` : `${before + 1},${count}`;
}
