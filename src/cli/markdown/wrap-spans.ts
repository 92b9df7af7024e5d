/** Breaks a line of spans into rows of a width, between words where there is room for one. */

import type { Colours } from "../text/colours.ts";
import { clustersOf, displayWidth } from "../text/display-width.ts";
import type { Span, Styles } from "./inline.ts";

export interface MarkdownView {
  /** Columns that a row may take. */
  readonly width: number;
  readonly colours: Colours;
}

export interface Row {
  readonly spans: readonly Span[];
  readonly width: number;
}

const SPACES = /(\s+)/;
const TAB = "  ";

export function wrapSpans(spans: readonly Span[], width: number): Row[] {
  const rows: { spans: Span[]; width: number }[] = [{ spans: [], width: 0 }];
  /** A word of one or several spans, with the space before it. */
  let word: Span[] = [];
  let wordWidth = 0;
  let space: Span | null = null;

  const row = (): { spans: Span[]; width: number } => rows.at(-1) ?? { spans: [], width: 0 };

  function put(span: Span, columns: number): void {
    row().spans.push(span);
    row().width += columns;
  }

  function endWord(): void {
    if (wordWidth === 0 && word.length === 0) return;
    const gap = space === null ? 0 : displayWidth(space.text);
    if (row().width > 0 && row().width + gap + wordWidth > width) rows.push({ spans: [], width: 0 });
    else if (space !== null) put(space, gap);
    for (const span of word) {
      if (row().width + displayWidth(span.text) <= width) put(span, displayWidth(span.text));
      else for (const cluster of clustersOf(span.text)) putCluster(cluster, span.styles);
    }
    word = [];
    wordWidth = 0;
    space = null;
  }

  function putCluster(cluster: { readonly text: string; readonly width: number }, styles: Styles): void {
    if (row().width > 0 && row().width + cluster.width > width) rows.push({ spans: [], width: 0 });
    put({ text: cluster.text, styles }, cluster.width);
  }

  for (const { text, styles } of spans) {
    for (const part of text.split(SPACES)) {
      if (part === "") continue;
      if (part.trim() === "") {
        endWord();
        space = { text: part.replaceAll("\t", TAB), styles };
      } else {
        word.push({ text: part, styles });
        wordWidth += displayWidth(part);
      }
    }
  }
  endWord();
  return rows;
}

/** The row as text with its colours. */
export function paintRow({ spans }: Row, colours: Colours): string {
  let painted = "";
  for (let from = 0; from < spans.length;) {
    const { styles = [] } = spans[from] ?? {};
    let text = "";
    for (; from < spans.length && sameStyles(spans[from]?.styles ?? [], styles); from += 1) text += spans[from]?.text;
    painted += styles.reduce((shown, style) => colours[style](shown), text);
  }
  return painted;
}

function sameStyles(one: Styles, other: Styles): boolean {
  return one === other || (one.length === other.length && one.every((style, index) => style === other[index]));
}
