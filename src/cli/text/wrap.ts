/** The last rows of a text, broken to a width. */

import { clustersOf } from "./display-width.ts";

export function lastRows(text: string, width: number, most: number): string[] {
  if (most <= 0) return [];
  // No row holds more characters than columns; marks that take no column are few.
  const end = text.slice(-4 * width * most);
  const rows = [""];
  let used = 0;
  for (const cluster of clustersOf(end)) {
    if (cluster.text === "\n" || used + cluster.width > width) {
      rows.push("");
      used = 0;
    }
    if (cluster.text === "\n") continue;
    rows[rows.length - 1] += cluster.text === "\t" ? " " : cluster.text;
    used += cluster.text === "\t" ? 1 : cluster.width;
  }
  return rows.slice(-most);
}
