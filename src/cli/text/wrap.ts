/** Breaks a text into rows of a width, and finds the cursor among them. */

import { clustersOf } from "./display-width.ts";

export interface WrappedText {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** How a tab is shown. */
const TAB = "  ";

/** `cursor` is a position in the text, in UTF-16 units. */
export function wrapText(text: string, width: number, cursor = 0): WrappedText {
  const rows = [""];
  let column = 0;
  let found = { row: 0, column: 0 };
  const newRow = (): void => {
    rows.push("");
    column = 0;
  };
  for (const cluster of clustersOf(text)) {
    const lineEnd = cluster.text === "\n" || cluster.text === "\r\n";
    const shown = cluster.text === "\t" ? TAB : cluster.text;
    const columns = cluster.text === "\t" ? TAB.length : cluster.width;
    if (!lineEnd && column + columns > width) newRow();
    if (cluster.index <= cursor) found = { row: rows.length - 1, column };
    if (lineEnd) newRow();
    else {
      rows[rows.length - 1] += shown;
      column += columns;
    }
  }
  if (cursor < text.length) return { rows, cursor: found };
  // A full row has no column left for the cursor.
  if (column >= width) newRow();
  return { rows, cursor: { row: rows.length - 1, column } };
}

/** The last rows of a text, at most `most`. */
export function lastRows(text: string, width: number, most: number): readonly string[] {
  if (most <= 0) return [];
  // No row holds more characters than columns; marks that take no column are few.
  return wrapText(text.slice(-4 * width * most), width).rows.slice(-most);
}
