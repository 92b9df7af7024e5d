/** A table of Markdown: as columns that fit into the width, or, where there is no room, a line for each cell. */

import { inlineSpans, type Span } from "./inline.ts";
import { type MarkdownView, paintRow, type Row, wrapSpans } from "./wrap-spans.ts";

const DELIMITER = /^:?-+:?$/;
const SEPARATOR = " │ ";
const NARROWEST_COLUMN = 12;
const MOST_COLUMNS = 50;

/** True if the second line makes the first one the header of a table. */
export function tableBegins(header: string, line: string): boolean {
  if (!line.includes("-") || !header.includes("|")) return false;
  const columns = cellsOf(header).length;
  const cells = cellsOf(line);
  return columns <= MOST_COLUMNS && cells.length === columns && cells.every((cell) => DELIMITER.test(cell));
}

export function tableRows(lines: readonly string[], view: MarkdownView): string[] {
  const [header = "", delimiters = "", ...body] = lines;
  const right = cellsOf(delimiters).map((cell) => cell.endsWith(":") && !cell.startsWith(":"));
  const heads = cellsOf(header).map((cell) => inlineSpans(cell, ["bold"]));
  const rows = body.map((line) => heads.map((_, column) => inlineSpans(cellsOf(line)[column] ?? "")));
  const widths = columnWidths([heads, ...rows], view.width);
  if (widths === null)
    return rows.flatMap((row, index) => [...(index === 0 ? [] : [""]), ...cellLines(heads, row, view)]);
  const rule = view.colours.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  const shown = (row: readonly Span[][]): string[] => rowLines(row, widths, right, view);
  return [...shown(heads), rule, ...rows.flatMap(shown)];
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "");
  const cells = inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
  if (cells.length > 1 && cells.at(-1) === "") cells.pop();
  return cells;
}

/** The widths that the cells want, the widest cut until all fit; null if some column would be too narrow. */
function columnWidths(rows: readonly Span[][][], width: number): number[] | null {
  const columns = rows[0]?.length ?? 0;
  const room = width - SEPARATOR.length * (columns - 1);
  const wanted = Array.from({ length: columns }, (_, column) =>
    rows.reduce((widest, row) => {
      const [whole] = wrapSpans(row[column] ?? [], Number.MAX_SAFE_INTEGER);
      return Math.max(widest, whole?.width ?? 0);
    }, 1),
  );
  let cap = Math.max(...wanted);
  const taken = (): number => wanted.reduce((sum, one) => sum + Math.min(one, cap), 0);
  if (taken() > room) {
    cap = Math.min(cap, room);
    while (cap > 0 && taken() > room) cap -= 1;
  }
  if (cap < NARROWEST_COLUMN && wanted.some((one) => one > cap)) return null;
  return wanted.map((one) => Math.min(one, cap));
}

function rowLines(
  row: readonly Span[][],
  widths: readonly number[],
  right: readonly boolean[],
  { colours }: MarkdownView,
): string[] {
  const cells = widths.map((width, column) => wrapSpans(row[column] ?? [], width));
  const height = Math.max(...cells.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((cell, column) => {
        const shown: Row = cell[line] ?? { spans: [], width: 0 };
        const padding = " ".repeat(Math.max(0, (widths[column] ?? 0) - shown.width));
        const text = paintRow(shown, colours);
        return right[column] === true ? padding + text : text + padding;
      })
      .join(colours.dim(SEPARATOR))
      .trimEnd(),
  );
}

function cellLines(heads: readonly Span[][], row: readonly Span[][], { width, colours }: MarkdownView): string[] {
  return row.flatMap((cell, column) =>
    wrapSpans([...(heads[column] ?? []), { text: ": ", styles: ["bold"] }, ...cell], width).map((one) =>
      paintRow(one, colours),
    ),
  );
}
