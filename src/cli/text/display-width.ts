/**
 * How many columns a text takes in a terminal, and cutting text to a width. Terminals do not agree about every
 * character; where they differ, the wider value is used, so that a line always fits.
 */

/** A grapheme cluster that takes two columns: East Asian wide and full-width characters, and emoji. */
const WIDE_RANGES = [
  String.raw`\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3`,
  String.raw`\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6`,
  String.raw`\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f1e6}-\u{1f1ff}\u{20000}-\u{3fffd}`,
].join("");
const WIDE = new RegExp(String.raw`[${WIDE_RANGES}]|\p{Emoji_Presentation}|\ufe0f`, "u");
/** A cluster that takes no column. */
const EMPTY = /^[\p{Mark}\p{Format}\p{Control}\u200b]+$/u;
const PLAIN = /^[ -~]*$/;
const ELLIPSIS = "…";
const clusters = createClusters();

/** The segmenter is created on first use, because that would slow down the start of short commands. */
function createClusters(): (text: string) => Intl.Segments {
  let segmenter: Intl.Segmenter | null = null;
  return (text) => (segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })).segment(text);
}

function clusterWidth(cluster: string): number {
  if (EMPTY.test(cluster)) return 0;
  return WIDE.test(cluster) ? 2 : 1;
}

/** A grapheme cluster: what a reader sees as one character. */
export interface Cluster {
  readonly text: string;
  /** Where it begins in the text. */
  readonly index: number;
  /** How many columns it takes. */
  readonly width: number;
}

export function clustersOf(text: string): Cluster[] {
  return Array.from(clusters(text), ({ segment, index }) => ({
    text: segment,
    index,
    width: clusterWidth(segment),
  }));
}

export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of clusters(text)) width += clusterWidth(segment);
  return width;
}

/** Cuts text that is too wide, and adds an ellipsis. */
export function fitWidth(text: string, width: number): string {
  if (width <= 0) return "";
  if (displayWidth(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const { segment } of clusters(text)) {
    const next = used + clusterWidth(segment);
    if (next > width - 1) break;
    kept += segment;
    used = next;
  }
  return `${kept.trimEnd()}${ELLIPSIS}`;
}

/** Exactly `width` columns: cut, or padded with spaces. */
export function padWidth(text: string, width: number): string {
  const fitted = fitWidth(text, width);
  return fitted + " ".repeat(Math.max(0, width - displayWidth(fitted)));
}

/** Rows of cells as lines: each column as wide as its widest cell, two spaces between columns. */
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
