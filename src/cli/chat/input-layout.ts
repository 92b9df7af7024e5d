/** The typed text as rows of a terminal, and where its cursor is among them. */

import { clustersOf } from "../text/display-width.ts";

export interface InputLayout {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

export interface InputView {
  /** Columns that a row may take, the mark included. */
  readonly width: number;
  /** Rows that may be shown: of more, those around the cursor. */
  readonly height: number;
  /** What stands before the first row; the others are indented as far. */
  readonly mark: string;
}

/** What a tab is shown as; it stays a tab in the text. */
const TAB = "  ";

export function layoutInput(text: string, cursor: number, { width, height, mark }: InputView): InputLayout {
  const room = Math.max(2, width - mark.length);
  const rows: string[] = [""];
  let used = 0;
  let place = { row: 0, column: 0 };
  for (const cluster of clustersOf(text)) {
    const shown = cluster.text === "\t" ? TAB : cluster.text;
    const columns = cluster.text === "\t" ? TAB.length : cluster.width;
    const breaks = /^\r?\n$/.test(cluster.text);
    if (!breaks && used + columns > room) {
      rows.push("");
      used = 0;
    }
    if (cluster.index <= cursor) place = { row: rows.length - 1, column: used };
    if (breaks) {
      rows.push("");
      used = 0;
      continue;
    }
    rows[rows.length - 1] += shown;
    used += columns;
  }
  if (cursor >= text.length) {
    // A row that is full leaves no column for the cursor.
    if (used >= room) {
      rows.push("");
      used = 0;
    }
    place = { row: rows.length - 1, column: used };
  }
  const first = Math.min(Math.max(0, place.row - height + 1), Math.max(0, rows.length - height));
  const marked = rows.map((row, index) => `${index === 0 ? mark : " ".repeat(mark.length)}${row}`);
  return {
    rows: marked.slice(first, first + height),
    cursor: { row: place.row - first, column: place.column + mark.length },
  };
}
