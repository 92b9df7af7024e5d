/** Columns as wide as their widest cell, two spaces apart. */

import { displayWidth, padWidth } from "./display-width.ts";

export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(0, ...rows.map((row) => displayWidth(row[column] ?? ""))),
  );
  return rows.map((row) =>
    widths
      .map((width, column) => padWidth(row[column] ?? "", width))
      .join("  ")
      .trimEnd(),
  );
}
