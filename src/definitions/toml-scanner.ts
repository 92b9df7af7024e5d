/** Scans the tokens of TOML: blanks, comments, keys, strings, numbers. Throws a TomlError. */

/** Caught only by readToml. */
export class TomlError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

export interface TomlScanner {
  /** The number of the current line, from 1. */
  line(): number;
  done(): boolean;
  /** Skips blanks, and the mark if it is next. Returns whether it was. */
  take(mark: string): boolean;
  need(mark: string): void;
  /** Skips blanks, comments and line breaks. */
  skipLines(): void;
  /** Skips blanks and a comment. Fails if the line does not end there. */
  endOfLine(): void;
  key(): string;
  /** A string, a number or a boolean. */
  scalar(): string | number | boolean;
  fail(message: string): never;
}

const BLANK = /[ \t]*/y;
const BLANK_LINES = /(?:[ \t\n]|#[^\n]*)*/y;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
const WORD = /[^\s,\]}#]+/y;
const DATE = /^\d{4}-\d{2}-\d{2}|^\d{2}:\d{2}/;
const NUMBER = /^[+-]?(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?$/;
const OTHER_BASE = /^0(?:x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|o[0-7](?:_?[0-7])*|b[01](?:_?[01])*)$/;
const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\u001b",
  '"': '"',
  "\\": "\\",
};

export function createTomlScanner(text: string): TomlScanner {
  let at = 0;
  let counted = 0;
  let lines = 1;

  function line(): number {
    for (; counted < at; counted++) if (text[counted] === "\n") lines++;
    return lines;
  }

  function fail(message: string): never {
    throw new TomlError(message, line());
  }

  function match(pattern: RegExp): string {
    const sticky = new RegExp(pattern);
    sticky.lastIndex = at;
    const found = sticky.exec(text)?.[0] ?? "";
    at += found.length;
    return found;
  }

  function take(mark: string): boolean {
    match(BLANK);
    if (!text.startsWith(mark, at)) return false;
    at += mark.length;
    return true;
  }

  function literal(quote: string, many: boolean): string {
    const end = text.indexOf(quote, at);
    if (end < 0) fail("a string is not closed");
    // Up to two quotes before the closing ones belong to the content.
    const extra = many ? (/^'{0,2}/.exec(text.slice(end + 3, end + 5))?.[0].length ?? 0) : 0;
    const content = text.slice(at, end + extra);
    if (!many && content.includes("\n")) fail("a string is not closed on its line");
    at = end + extra + quote.length;
    return content;
  }

  function escaped(): string {
    const mark = text[at++] ?? "";
    const simple = Object.hasOwn(ESCAPES, mark) ? ESCAPES[mark] : undefined;
    if (simple !== undefined) return simple;
    const digits = mark === "u" ? 4 : mark === "U" ? 8 : mark === "x" ? 2 : 0;
    const hex = text.slice(at, at + digits);
    const code = digits > 0 && /^[0-9A-Fa-f]+$/.test(hex) && hex.length === digits ? parseInt(hex, 16) : -1;
    if (code < 0 || code > 0x10_ff_ff || (code >= 0xd8_00 && code <= 0xdf_ff)) fail(`"\\${mark}" is no escape`);
    at += digits;
    return String.fromCodePoint(code);
  }

  function basic(many: boolean): string {
    const parts: string[] = [];
    const plain = many ? /[^"\\]+/y : /[^"\\\n]+/y;
    for (;;) {
      parts.push(match(plain));
      if (at >= text.length || text[at] === "\n") fail("a string is not closed");
      if (text[at] === "\\") {
        at++;
        if (many && /^[ \t]*\n/.test(text.slice(at, at + 200))) match(/[ \t\n]+/y);
        else parts.push(escaped());
        continue;
      }
      if (!many || text.startsWith('"""', at)) break;
      parts.push('"');
      at++;
    }
    const quotes = many ? match(/"{3,5}/y).length - 3 : 0;
    if (!many) at++;
    parts.push('"'.repeat(quotes));
    return parts.join("");
  }

  /** A line break directly after the opening quotes is not part of the string. */
  function string(): string | null {
    if (take("'''")) {
      match(/\n?/y);
      return literal("'''", true);
    }
    if (take('"""')) {
      match(/\n?/y);
      return basic(true);
    }
    if (take("'")) return literal("'", false);
    return take('"') ? basic(false) : null;
  }

  return {
    line,
    done: () => at >= text.length,
    take,
    need(mark) {
      if (!take(mark)) fail(`"${mark}" was expected`);
    },
    skipLines: () => void match(BLANK_LINES),
    endOfLine() {
      match(BLANK);
      match(/#[^\n]*/y);
      if (at < text.length && text[at] !== "\n") fail("there is text after the end of a value");
    },
    key() {
      match(BLANK);
      if (text.startsWith('"""', at) || text.startsWith("'''", at)) fail("a key cannot be a multi-line string");
      const key = string() ?? match(BARE_KEY);
      if (key === "") fail("a key was expected");
      return key;
    },
    scalar() {
      const found = string();
      if (found !== null) return found;
      const word = match(WORD);
      if (word === "true" || word === "false") return word === "true";
      if (DATE.test(word)) fail(`dates and times such as ${word.slice(0, 40)} are not read; write a string`);
      if (NUMBER.test(word) || OTHER_BASE.test(word)) return Number(word.replaceAll("_", ""));
      return fail(word === "" ? "a value was expected" : `"${word.slice(0, 40)}" is no value; write strings in quotes`);
    },
    fail,
  };
}
