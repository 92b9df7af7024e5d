/**
 * Markdown inside a line: emphasis, code and links. What is not well formed stays as it was written.
 *
 * Invariants:
 *  1. The time is linear in the length of the text.
 *  2. The address of a link is shown, so that its words cannot hide where it goes.
 */

import type { Colours } from "../text/colours.ts";

export type Styles = readonly (keyof Colours)[];

/** A piece of a line that looks the same throughout. */
export interface Span {
  readonly text: string;
  readonly styles: Styles;
}

const EMPHASIS: Readonly<Record<string, keyof Colours>> = {
  "**": "bold",
  __: "bold",
  "~~": "dim",
  "*": "italic",
  _: "italic",
};
const DEEPEST = 4;
const SPECIAL = /[\\`*_~[!<]/g;
const ESCAPED = /\\[!-/:-@[-`{-~]/y;
const TICKS = /`+/y;
const LINK = /!?\[([^[\]\n]{0,500})\]\(([^()\s]{1,1000}(?:\([^()\s]{0,200}\))?)(?: "[^"\n]{0,200}")?\)/y;
const ADDRESS = /<((?:https?:\/\/|mailto:)[^<>\s]{1,1000})>/y;
const WORD = /[\p{L}\p{N}]/u;

/** Where runs of backticks begin, by their length, the last one first. */
function marksByLength(text: string): ReadonlyMap<number, number[]> {
  const places = new Map<number, number[]>();
  for (const {
    0: { length },
    index,
  } of text.matchAll(/`+/g)) {
    const known = places.get(length);
    if (known === undefined) places.set(length, [index]);
    else known.push(index);
  }
  for (const known of places.values()) known.reverse();
  return places;
}

export function inlineSpans(text: string, styles: Styles = [], depth = 0): Span[] {
  const spans: Span[] = [];
  /** Where a mark closes next; -1 if it does not. */
  const closings = new Map<string, number>();
  let codeMarks: ReadonlyMap<number, number[]> | null = null;
  let plain = "";
  let at = 0;

  function add(...added: readonly Span[]): void {
    if (plain !== "") spans.push({ text: plain, styles });
    plain = "";
    spans.push(...added);
  }

  /** The pattern where it matches at this place or, of a global one, behind it. */
  function matched(pattern: RegExp): RegExpExecArray | null {
    const own = new RegExp(pattern);
    own.lastIndex = at;
    return own.exec(text);
  }

  function closing(mark: string, from: number, closes: (place: number) => boolean): number {
    const known = closings.get(mark);
    if (known !== undefined && (known === -1 || known >= from)) return known;
    let place = text.indexOf(mark, from);
    while (place !== -1 && !closes(place)) place = text.indexOf(mark, place + 1);
    closings.set(mark, place);
    return place;
  }

  function code(): boolean {
    const [ticks] = matched(TICKS) ?? [];
    if (ticks === undefined) return false;
    const from = at + ticks.length;
    codeMarks ??= marksByLength(text);
    const places = codeMarks.get(ticks.length) ?? [];
    while ((places.at(-1) ?? from) < from) places.pop();
    const end = places.at(-1) ?? -1;
    // The whole run is text, or shorter runs of it would be looked for.
    if (end === -1) plain += ticks;
    else add({ text: withoutPadding(text.slice(from, end)), styles: [...styles, "cyan"] });
    at = end === -1 ? from : end + ticks.length;
    return true;
  }

  function link(): boolean {
    const [whole, words, url] = matched(LINK) ?? [];
    const [address, bare] = whole === undefined ? (matched(ADDRESS) ?? []) : [];
    const to = url ?? bare;
    if (to === undefined) return false;
    const underlined: Styles = [...styles, "underline"];
    if (words === undefined || words === "" || words === to) add({ text: to, styles: underlined });
    else add(...inlineSpans(words, underlined, DEEPEST), { text: ` (${to})`, styles: [...styles, "dim"] });
    at += (whole ?? address ?? "").length;
    return true;
  }

  function emphasis(): boolean {
    const two = text.slice(at, at + 2);
    const mark = Object.hasOwn(EMPHASIS, two) ? two : (text[at] ?? "");
    const style = Object.hasOwn(EMPHASIS, mark) ? EMPHASIS[mark] : undefined;
    const from = at + mark.length;
    const word = mark.startsWith("_");
    if (style === undefined || depth >= DEEPEST || !/\S/.test(text[from] ?? " ")) return false;
    if (word && WORD.test(text[at - 1] ?? "")) return false;
    const end = closing(mark, from + 1, (place) => {
      const [before = " ", after = ""] = [text[place - 1], text[place + mark.length]];
      // The marks of `__init__.py` are none.
      const file = after === "." && WORD.test(text[place + mark.length + 1] ?? "");
      if (/\s/.test(before) || (word && (WORD.test(after) || file))) return false;
      return mark.length === 2 || (before !== mark && after !== mark);
    });
    if (end === -1) return false;
    add(...inlineSpans(text.slice(from, end), [...styles, style], depth + 1));
    at = end + mark.length;
    return true;
  }

  while (at < text.length) {
    const next = matched(SPECIAL)?.index ?? text.length;
    plain += text.slice(at, next);
    at = next;
    if (at >= text.length) break;
    if (matched(ESCAPED) !== null) {
      plain += text[at + 1] ?? "";
      at += 2;
    } else if (!code() && !link() && !emphasis()) {
      plain += text[at] ?? "";
      at += 1;
    }
  }
  add();
  return spans;
}

/** One space on each side keeps backticks in the code apart from its marks. */
function withoutPadding(code: string): string {
  return code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "" ? code.slice(1, -1) : code;
}
