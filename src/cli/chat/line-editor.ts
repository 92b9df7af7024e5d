/**
 * The line that a person types, of one or several lines, and the history of those before.
 *
 * Invariants:
 *  1. The cursor never stands inside of what is one character to a reader.
 *  2. A paste is text and nothing else: no key of it is pressed, and no control character gets in.
 *  3. Going through the history changes nothing of it, and coming back finds the line as it was left.
 */

import type { Key } from "../host.ts";
import { clustersOf } from "../text/display-width.ts";
import { terminalText } from "../text/terminal-text.ts";

export interface LineEditor {
  readonly text: string;
  /** Where the next character goes, in UTF-16 units. */
  readonly cursor: number;
  /** Takes a key. Returns the line when it was sent, else null. */
  press(key: Key): string | null;
  clear(): void;
  /** Puts the line aside, so that another one can be typed, and brings it back. */
  putAside(): void;
  bringBack(): void;
  /** Lines of an earlier conversation, to go back to. */
  remember(lines: readonly string[]): void;
}

export function createLineEditor(): LineEditor {
  const history: string[] = [];
  let text = "";
  let cursor = 0;
  /** Which of the history is shown; its length for the line that is being typed, which is kept meanwhile. */
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

  function before(): number {
    return clustersOf(text.slice(0, cursor)).at(-1)?.index ?? 0;
  }

  function after(): number {
    return cursor + (clustersOf(text.slice(cursor))[0]?.text.length ?? 0);
  }

  function wordBefore(): number {
    return cursor - (/\S*\s*$/.exec(text.slice(0, cursor))?.[0].length ?? 0);
  }

  function wordAfter(): number {
    return cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0);
  }

  function lineBegin(): number {
    return text.lastIndexOf("\n", cursor - 1) + 1;
  }

  function lineEnd(): number {
    const end = text.indexOf("\n", cursor);
    return end === -1 ? text.length : end;
  }

  /** To the line above or below, as near to the same column as there are characters; false where there is none. */
  function toLine(direction: -1 | 1): boolean {
    const column = clustersOf(text.slice(lineBegin(), cursor)).length;
    const begin = direction === -1 ? text.lastIndexOf("\n", lineBegin() - 2) + 1 : lineEnd() + 1;
    if (direction === -1 ? lineBegin() === 0 : lineEnd() === text.length) return false;
    const end = text.indexOf("\n", begin);
    const line = text.slice(begin, end === -1 ? text.length : end);
    cursor = begin + (clustersOf(line)[column]?.index ?? line.length);
    return true;
  }

  function toHistory(index: number): void {
    if (index < 0 || index > history.length) return;
    if (shown === history.length) draft = text;
    shown = index;
    set(history[index] ?? draft);
  }

  function send(): string | null {
    const line = text.trim();
    if (line === "") return null;
    if (history.at(-1) !== line) history.push(line);
    clear();
    return line;
  }

  function clear(): void {
    set("");
    draft = "";
    shown = history.length;
  }

  function control(name: string): void {
    if (name === "a") cursor = lineBegin();
    else if (name === "e") cursor = lineEnd();
    else if (name === "b") cursor = before();
    else if (name === "f") cursor = after();
    else if (name === "d") remove(cursor, after());
    else if (name === "h") remove(before(), cursor);
    else if (name === "k") remove(cursor, lineEnd());
    else if (name === "u") remove(lineBegin(), cursor);
    else if (name === "w") remove(wordBefore(), cursor);
    else if (name === "left") cursor = wordBefore();
    else if (name === "right") cursor = wordAfter();
  }

  function alternate(name: string): void {
    if (name === "b" || name === "left") cursor = wordBefore();
    else if (name === "f" || name === "right") cursor = wordAfter();
    else if (name === "d") remove(cursor, wordAfter());
  }

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
    remember(lines) {
      history.unshift(...lines);
      shown += lines.length;
    },
    press({ name, text: typed, ctrl, meta }) {
      if (name === "return" && !meta) return send();
      // Ctrl-J and Alt-Enter begin another line of the same message.
      if (name === "enter" || name === "return") insert("\n");
      else if (name === "paste") insert(terminalText(typed));
      else if (name === "backspace") remove(meta || ctrl ? wordBefore() : before(), cursor);
      else if (name === "delete") remove(cursor, after());
      else if (name === "home") cursor = lineBegin();
      else if (name === "end") cursor = lineEnd();
      else if (name === "up" && !toLine(-1)) toHistory(shown - 1);
      else if (name === "down" && !toLine(1)) toHistory(shown + 1);
      else if (name === "left" && !ctrl && !meta) cursor = before();
      else if (name === "right" && !ctrl && !meta) cursor = after();
      else if (ctrl) control(name);
      else if (meta) alternate(name);
      else if (terminalText(typed) === typed && name !== "tab") insert(typed);
      return null;
    },
  };
}
