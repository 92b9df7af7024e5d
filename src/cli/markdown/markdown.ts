/**
 * Markdown as rows for a terminal. Headings, emphasis, lists, quotes, code, tables and links are shown; line ends stay
 * where they were written; everything else is text.
 *
 * Invariants:
 *  1. Every line goes through `terminalText` first, so the rows hold no control but colours of this process.
 *  2. No row is wider than the width, except lines of code, which stay as they are so that they can be copied.
 *  3. Nothing is left out but the marks: words that look like Markdown and are not stay.
 */

import { displayWidth } from "../text/display-width.ts";
import { terminalText } from "../text/terminal-text.ts";
import { inlineSpans, type Styles } from "./inline.ts";
import { tableBegins, tableRows } from "./table.ts";
import { type MarkdownView, paintRow, wrapSpans } from "./wrap-spans.ts";

export interface MarkdownStream {
  /** The next part of the text. */
  write(text: string): void;
  /** The last rows of what was written so far, at most `most`. */
  tail(most: number): string[];
}

/** What the next line depends on. */
interface State {
  /** The marks that began the code that the line is in; null outside of code. */
  fence: string | null;
  /** Lines that are a table, or may be the header of one. */
  table: string[];
}

/** The lookaheads keep it from trying shorter marks, which would take quadratic time. */
const FENCE = /^\s{0,12}(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(?=\S)/;
const RULE = /^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/;
const QUOTE = /^ {0,3}(>[> ]{0,9})/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(?:\[([ xX])\]\s+)?(?=\S)/;
const INDENT = /^\s*/;
const WIDEST_RULE = 40;
/** A quote with less room than this is shown as it was written. */
const NARROWEST_QUOTE = 8;

export function markdownRows(text: string, view: MarkdownView): string[] {
  const state: State = { fence: null, table: [] };
  const rows = linesOf(text.trim()).flatMap((line) => lineRows(line, state, view));
  return [...rows, ...openTable(state, view)];
}

export function createMarkdownStream(view: MarkdownView): MarkdownStream {
  const state: State = { fence: null, table: [] };
  const rows: string[] = [];
  let open = "";
  return {
    write(text) {
      const end = text.lastIndexOf("\n");
      if (end === -1) return void (open += text);
      for (const line of linesOf(open + text.slice(0, end))) rows.push(...lineRows(line, state, view));
      open = text.slice(end + 1);
    },
    tail(most) {
      if (most <= 0) return [];
      // A row holds no more characters than columns, but for marks and spaces.
      const last = open.slice(-4 * view.width * most);
      const [header = "", delimiters = "", ...body] = state.table;
      const table = state.table.length < 2 ? state.table : [header, delimiters, ...body.slice(-most)];
      const ahead: State = { fence: state.fence, table: [...table] };
      const unfinished = open === "" ? [] : linesOf(last).flatMap((line) => lineRows(line, ahead, view));
      return [...rows.slice(-most), ...unfinished, ...openTable(ahead, view)].slice(-most);
    },
  };
}

function linesOf(text: string): string[] {
  return terminalText(text).split("\n");
}

function lineRows(line: string, state: State, view: MarkdownView): string[] {
  if (state.fence !== null) return codeRows(line, state, state.fence, view);
  const [header] = state.table;
  if (header !== undefined) {
    const goes = state.table.length === 1 ? tableBegins(header, line) : line.includes("|");
    if (goes) {
      state.table.push(line);
      return [];
    }
    const before = openTable(state, view);
    state.table = [];
    return [...before, ...lineRows(line, state, view)];
  }
  const [, fence] = FENCE.exec(line) ?? [];
  if (fence !== undefined) {
    state.fence = fence;
    return [];
  }
  if (line.includes("|") && !ITEM.test(line) && !QUOTE.test(line)) {
    state.table = [line];
    return [];
  }
  return flowRows(line, view);
}

/** What was held back, because it is a table or could have become one. */
function openTable({ table }: State, view: MarkdownView): string[] {
  const [header] = table;
  if (header === undefined) return [];
  return table.length === 1 ? flowRows(header, view) : tableRows(table, view);
}

function codeRows(line: string, state: State, fence: string, { colours }: MarkdownView): string[] {
  const [, marks = "", rest = ""] = FENCE.exec(line) ?? [];
  const closes = marks.length >= fence.length && marks[0] === fence[0] && rest.trim() === "";
  if (!closes) return [line === "" ? "" : colours.cyan(line)];
  state.fence = null;
  return [];
}

/** A heading, a line of a list, of a quote or of a paragraph. */
function flowRows(line: string, view: MarkdownView): string[] {
  const { colours, width } = view;
  if (line.trim() === "") return [""];
  if (RULE.test(line)) return [colours.dim("─".repeat(Math.min(width, WIDEST_RULE)))];
  const [quoted, marks = ""] = QUOTE.exec(line) ?? [];
  if (quoted !== undefined) {
    const bars = "│ ".repeat(marks.replaceAll(" ", "").length);
    const room = width - bars.length;
    if (room < NARROWEST_QUOTE) return hanging(line, "", "", [], view);
    const inner = flowRows(line.slice(quoted.length), { ...view, width: room });
    return inner.map((row) => colours.dim(bars) + row);
  }
  const [heading, hashes = ""] = HEADING.exec(line) ?? [];
  if (heading !== undefined) {
    const words = line.slice(heading.length).replace(/\s#+\s*$/, "");
    return hanging(words, "", "", hashes.length === 1 ? ["bold", "underline"] : ["bold"], view);
  }
  const [item, indent = "", mark = "", box] = ITEM.exec(line) ?? [];
  if (item === undefined) {
    const [before = ""] = INDENT.exec(line) ?? [];
    return hanging(line.slice(before.length), indentOf(before, view), "", [], view);
  }
  const bullet = /^\d/.test(mark) ? `${mark} ` : box === undefined ? "• " : box === " " ? "☐ " : "☑ ";
  return hanging(line.slice(item.length), indentOf(indent, view), bullet, [], view);
}

/** The text after an indent and a mark; the rows after the first stand below the text, where there is room for that. */
function hanging(
  text: string,
  indent: string,
  mark: string,
  styles: Styles,
  { width, colours }: MarkdownView,
): string[] {
  const wanted = indent + mark;
  const fits = displayWidth(wanted) <= width / 2;
  const before = fits ? wanted : "";
  const below = " ".repeat(displayWidth(before));
  const spans = inlineSpans(`${fits ? "" : mark}${text.trimEnd()}`, styles);
  return wrapSpans(spans, width - below.length).map(
    (row, index) => (index === 0 ? before : below) + paintRow(row, colours),
  );
}

/** The indent as it was written, but never so much that no room is left for the text. */
function indentOf(written: string, { width }: MarkdownView): string {
  const columns = written.replaceAll("\t", "    ").length;
  return " ".repeat(Math.min(columns, Math.floor(width / 3)));
}
