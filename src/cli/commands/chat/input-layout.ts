/** The typed text as rows of a terminal, and where its cursor is among them. */

import { type WrappedText, wrapText } from "../../text/wrap.ts";

export interface InputView {
  /** Columns that a row may take, the mark included. */
  readonly width: number;
  /** How many rows may be shown. If there are more, those around the cursor are shown. */
  readonly height: number;
  /** Printed before the first row; the other rows are indented by its width. */
  readonly mark: string;
}

export function layoutInput(text: string, position: number, { width, height, mark }: InputView): WrappedText {
  const { rows, cursor } = wrapText(text, Math.max(2, width - mark.length), position);
  const first = Math.min(Math.max(0, cursor.row - height + 1), Math.max(0, rows.length - height));
  const marked = rows.map((row, index) => `${index === 0 ? mark : " ".repeat(mark.length)}${row}`);
  return {
    rows: marked.slice(first, first + height),
    cursor: { row: cursor.row - first, column: cursor.column + mark.length },
  };
}
