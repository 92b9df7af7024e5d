/**
 * The message that a user types, of one or several lines, and the history of earlier ones.
 *
 * Invariants:
 *  1. The cursor is never inside of what a reader sees as one character.
 *  2. Pasted text is only inserted: it presses no key, and its control characters are removed.
 *  3. Moving through the history does not change it, and coming back shows the typed text as it was left.
 */

import type { Key } from "../../host.ts";
import { clustersOf } from "../../text/display-width.ts";
import { terminalText } from "../../text/terminal-text.ts";

export interface LineEditor {
  readonly text: string;
  /** Where the next character is inserted, in UTF-16 units. */
  readonly cursor: number;
  /** Returns the message if the key sent it, else null. */
  press(key: Key): string | null;
  clear(): void;
  /** Puts the text aside so that something else can be typed; `bringBack` restores it. */
  putAside(): void;
  bringBack(): void;
  /** Adds messages of an earlier conversation to the history. */
  remember(messages: readonly string[]): void;
}

export function createLineEditor(): LineEditor {
  const history: string[] = [];
  let text = "";
  let cursor = 0;
  /** Which entry of the history is shown; its length for the text being typed, which is in `draft` meanwhile. */
  let shown = history.length;
  let draft = "";
  let aside: { readonly text: string; readonly cursor: number } | null = null;

  function set(to: string, at = to.length): void {
    text = to;
    cursor = at;
  }

  function insert(added: string): void {
    set(text.slice(0, cursor) + added + text.slice(cursor), cursor + added.length);
  }

  function remove(from: number, to: number): void {
    set(text.slice(0, from) + text.slice(to), from);
  }

  const before = (): number => clustersOf(text.slice(0, cursor)).at(-1)?.index ?? 0;
  const after = (): number => cursor + (clustersOf(text.slice(cursor))[0]?.text.length ?? 0);
  const wordBefore = (): number => cursor - (/\S*\s*$/.exec(text.slice(0, cursor))?.[0].length ?? 0);
  const wordAfter = (): number => cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0);
  const lineStart = (): number => text.lastIndexOf("\n", cursor - 1) + 1;

  function lineEnd(from = cursor): number {
    const end = text.indexOf("\n", from);
    return end === -1 ? text.length : end;
  }

  /** Moves to the line above or below, near the same column. Returns false if there is no such line. */
  function toLine(direction: -1 | 1): boolean {
    if (direction === -1 ? lineStart() === 0 : lineEnd() === text.length) return false;
    const column = clustersOf(text.slice(lineStart(), cursor)).length;
    const start = direction === -1 ? text.lastIndexOf("\n", lineStart() - 2) + 1 : lineEnd() + 1;
    const line = text.slice(start, lineEnd(start));
    cursor = start + (clustersOf(line)[column]?.index ?? line.length);
    return true;
  }

  /** Returns false if there is no such entry. */
  function toHistory(index: number): boolean {
    if (index < 0 || index > history.length) return false;
    if (shown === history.length) draft = text;
    shown = index;
    set(history[index] ?? draft);
    return true;
  }

  function send(): string | null {
    const message = text.trim();
    if (message === "") return null;
    if (history.at(-1) !== message) history.push(message);
    clear();
    return message;
  }

  function clear(): void {
    set("");
    draft = "";
    shown = history.length;
  }

  const actions = new Map<string, () => unknown>(
    (
      [
        ["enter alt-return", () => insert("\n")],
        ["left ctrl-b", () => (cursor = before())],
        ["right ctrl-f", () => (cursor = after())],
        ["alt-b alt-left ctrl-left", () => (cursor = wordBefore())],
        ["alt-f alt-right ctrl-right", () => (cursor = wordAfter())],
        ["home ctrl-a", () => (cursor = lineStart())],
        ["end ctrl-e", () => (cursor = lineEnd())],
        ["up", () => toLine(-1) || toHistory(shown - 1)],
        ["down", () => toLine(1) || toHistory(shown + 1)],
        ["backspace ctrl-h", () => remove(before(), cursor)],
        ["alt-backspace ctrl-backspace ctrl-w", () => remove(wordBefore(), cursor)],
        ["delete ctrl-d", () => remove(cursor, after())],
        ["alt-d", () => remove(cursor, wordAfter())],
        ["ctrl-u", () => remove(lineStart(), cursor)],
        ["ctrl-k", () => remove(cursor, lineEnd())],
      ] as const
    ).flatMap(([keys, action]) => keys.split(" ").map((key) => [key, action] as const)),
  );

  return {
    get text() {
      return text;
    },
    get cursor() {
      return cursor;
    },
    clear,
    putAside() {
      aside ??= { text, cursor };
      clear();
    },
    bringBack() {
      clear();
      if (aside !== null) set(aside.text, aside.cursor);
      aside = null;
    },
    remember(messages) {
      history.unshift(...messages);
      shown += messages.length;
    },
    press({ name, text: typed, ctrl, meta }) {
      if (name === "return" && !meta) return send();
      const modified = actions.get(`${ctrl ? "ctrl-" : ""}${meta ? "alt-" : ""}${name}`);
      // A named key does the same with a modifier that changes nothing.
      const action = modified ?? (name.length > 1 ? actions.get(name) : undefined);
      if (action !== undefined) action();
      else if (name === "paste") insert(terminalText(typed));
      else if (!ctrl && !meta && name !== "tab" && terminalText(typed) === typed) insert(typed);
      return null;
    },
  };
}
