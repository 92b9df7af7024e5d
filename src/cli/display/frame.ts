/**
 * Lines at the bottom of a terminal that are drawn again and again. Only lines that changed are written.
 *
 * Invariants:
 *  1. Between two calls the cursor stands where it was put, or else at the beginning of the line below the frame.
 *  2. While a frame is open, lines do not wrap and the cursor is hidden, unless it was put somewhere; `close` and `abandon` undo this, leave the
 *     cursor below the frame, and are harmless when repeated.
 *  3. What one call writes is one write, which the terminal shows at once (synchronized output).
 *  4. Lines and texts that are given hold colours and no other control: a text cannot move the cursor, also where somebody forgot to filter it.
 */

import { stripVTControlCharacters } from "node:util";
import { displayWidth } from "../text/display-width.ts";
import { colouredText } from "../text/terminal-text.ts";

const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";
const WRAP = "\u001b[?7h";
const NO_WRAP = "\u001b[?7l";
const CURSOR_ON = "\u001b[?25h";
const CURSOR_OFF = "\u001b[?25l";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\r\u001b[J";

/** A place in the frame: its line, and the column in it, both from 0. */
export interface Place {
  readonly row: number;
  readonly column: number;
}

export interface Frame {
  /** Draws these lines in the place of those before, with the cursor where somebody types, and text above them that stays. */
  draw(lines: readonly string[], cursor?: Place, above?: string): void;
  /** Writes text above the frame, where it stays. */
  above(text: string): void;
  /** The terminal has another width now, so that lines may have moved: the next drawing is a whole one. */
  resized(columns: number): void;
  /** Gives the terminal back, with these lines staying as they are. */
  close(lines: readonly string[]): void;
  /** Gives the terminal back as it is. */
  abandon(): void;
  /** Takes it again, with nothing drawn yet. */
  reopen(): void;
}

export function createFrame(write: (text: string) => void): Frame {
  let drawn: readonly string[] = [];
  /** Rows of the terminal that what was drawn takes. */
  let height = 0;
  /** Rows of the frame above the one that the cursor is in. */
  let above = 0;
  let cursor: Place | null = null;
  let open = false;

  const up = (rows: number): string => (rows > 0 ? `\u001b[${rows}A` : "");
  const down = (rows: number): string => (rows > 0 ? `\u001b[${rows}B` : "");
  const right = (columns: number): string => (columns > 0 ? `\u001b[${columns}C` : "");

  function whole(lines: readonly string[], before: string): string {
    const kept = before === "" ? "" : `${WRAP}${before}${NO_WRAP}`;
    const text = `${up(above)}${CLEAR_BELOW}${kept}${lines.map((line) => `${line}\n`).join("")}`;
    drawn = lines;
    height = lines.length;
    above = height;
    return text;
  }

  function changed(lines: readonly string[]): string {
    if (lines.length < drawn.length || height !== drawn.length) return whole(lines, "");
    let text = "";
    for (const [index, line] of drawn.entries()) {
      const next = lines[index] ?? "";
      const distance = height - index;
      if (line !== next) text += `${up(distance)}\r${next}${CLEAR_LINE}${down(distance)}\r`;
    }
    text += lines
      .slice(drawn.length)
      .map((line) => `${line}${CLEAR_LINE}\n`)
      .join("");
    if (text === "") return "";
    const first = below();
    drawn = lines;
    height = lines.length;
    above = height;
    return `${first}${text}`;
  }

  function oneLine(text: string): string {
    return colouredText(text).replaceAll("\n", " ");
  }

  function ended(text: string): string {
    return text.endsWith("\n") ? text : `${text}\n`;
  }

  /** From where the cursor is to the line below the frame. */
  function below(): string {
    return above < height ? `${down(height - above)}\r` : "";
  }

  /** From the line below the frame to where the cursor is wanted. */
  function placed(wanted: Place): string {
    const text = `${up(height - wanted.row)}\r${right(wanted.column)}${CURSOR_ON}`;
    above = wanted.row;
    return text;
  }

  function put(text: string, wanted: Place | null): void {
    const moved = cursor?.row !== wanted?.row || cursor?.column !== wanted?.column;
    if (text === "" && !moved) return;
    const begin = open ? (cursor === null ? "" : CURSOR_OFF) : `${CURSOR_OFF}${NO_WRAP}`;
    const back = text === "" ? below() : text;
    if (text === "") above = height;
    open = true;
    cursor = wanted;
    write(`${BEGIN}${begin}${back}${wanted === null ? "" : placed(wanted)}${END}`);
  }

  return {
    draw(given, wanted, text = "") {
      const lines = given.map(oneLine);
      put(text === "" ? changed(lines) : whole(lines, ended(colouredText(text))), wanted ?? null);
    },
    above: (text) => put(whole(drawn, ended(colouredText(text))), cursor),
    resized(columns) {
      const rows = (line: string): number => {
        const width = displayWidth(stripVTControlCharacters(line));
        return Math.max(1, Math.ceil(width / Math.max(1, columns)));
      };
      const sum = (lines: readonly string[]): number => lines.reduce((total, line) => total + rows(line), 0);
      height = sum(drawn);
      above = cursor === null ? height : sum(drawn.slice(0, cursor.row)) + Math.floor(cursor.column / columns);
      // Not to be mistaken for a frame whose lines are where they were.
      drawn = drawn.map(() => "");
    },
    close(lines) {
      const text = whole(lines.map(oneLine), "");
      write(`${BEGIN}${text}${WRAP}${CURSOR_ON}${END}`);
      open = false;
      forget();
    },
    abandon() {
      if (!open) return;
      open = false;
      write(`${below()}${WRAP}${CURSOR_ON}`);
      above = height;
    },
    reopen: forget,
  };

  function forget(): void {
    drawn = [];
    height = 0;
    above = 0;
    cursor = null;
  }
}
