/**
 * Lines at the bottom of a terminal that are drawn repeatedly. Only lines that changed are written.
 *
 * Invariants:
 *  1. Between two calls the cursor stands where it was put, or at the beginning of the line below the frame.
 *  2. While a frame is open, lines do not wrap, and the cursor is hidden unless it was put somewhere. `close` and
 *     `abandon` undo this and leave the cursor below the frame; calling them again does nothing.
 *  3. One call makes at most one write, which the terminal shows at once (synchronized output).
 *  4. Of the control characters in lines and texts only colours are written, so unfiltered text cannot move the cursor.
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
const CLEAR_BELOW = "\u001b[J";

/** A line of the frame and a column in it, both from 0. */
export interface Position {
  readonly row: number;
  readonly column: number;
}

export interface Frame {
  /** Replaces the lines, and writes text above them that stays. Without `cursor` the cursor is hidden. */
  draw(lines: readonly string[], cursor?: Position | null, above?: string): void;
  /** Writes text above the frame, where it stays. */
  above(text: string): void;
  /** The terminal has another width now: lines may have wrapped, so the next drawing writes all of them. */
  resized(columns: number): void;
  /** Gives the terminal back; these lines stay. */
  close(lines: readonly string[]): void;
  /** Gives the terminal back as it is. */
  abandon(): void;
  /** Takes the terminal again, with nothing drawn yet. */
  reopen(): void;
}

export function createFrame(write: (text: string) => void): Frame {
  let drawn: readonly string[] = [];
  /** Terminal rows that the drawn lines take. */
  let height = 0;
  /** Terminal rows from the top of the frame to the cursor. */
  let cursorRow = 0;
  let cursor: Position | null = null;
  let open = false;
  /** True if the terminal may show the drawn lines in other places than where they were written. */
  let moved = false;

  const move = (count: number, direction: "A" | "B" | "C"): string => (count > 0 ? `\u001b[${count}${direction}` : "");
  const oneLine = (text: string): string => colouredText(text).replaceAll("\n", " ");

  /** From the cursor to below the frame, with these lines in it. */
  function paint(lines: readonly string[], above: string): string {
    const whole = moved || above !== "" || lines.length < drawn.length;
    const kept = above === "" ? "" : `${WRAP}${above}${above.endsWith("\n") ? "" : "\n"}${NO_WRAP}`;
    let text = `${move(cursorRow, "A")}\r${whole ? CLEAR_BELOW : ""}${kept}`;
    for (const [index, line] of lines.entries()) {
      if (whole) text += `${line}\n`;
      else text += line === drawn[index] ? "\n" : `${line}${CLEAR_LINE}\n`;
    }
    drawn = lines;
    height = lines.length;
    cursorRow = height;
    moved = false;
    return text;
  }

  function draw(given: readonly string[], wanted: Position | null = null, above = ""): void {
    const lines = given.map(oneLine);
    const same = !moved && lines.length === drawn.length && lines.every((line, index) => line === drawn[index]);
    const stays = cursor?.row === wanted?.row && cursor?.column === wanted?.column;
    if (same && stays && above === "") return;
    let text = open ? (cursor === null ? "" : CURSOR_OFF) : `${CURSOR_OFF}${NO_WRAP}`;
    text += paint(lines, colouredText(above));
    if (wanted !== null) {
      text += `${move(height - wanted.row, "A")}\r${move(wanted.column, "C")}${CURSOR_ON}`;
      cursorRow = wanted.row;
    }
    cursor = wanted;
    open = true;
    write(`${BEGIN}${text}${END}`);
  }

  function reopen(): void {
    drawn = [];
    height = 0;
    cursorRow = 0;
    cursor = null;
    moved = false;
  }

  return {
    draw,
    above: (text) => draw(drawn, cursor, text),
    resized(columns) {
      const rows = (lines: readonly string[]): number =>
        lines.reduce((sum, line) => {
          const width = displayWidth(stripVTControlCharacters(line));
          return sum + Math.max(1, Math.ceil(width / Math.max(1, columns)));
        }, 0);
      height = rows(drawn);
      cursorRow = cursor === null ? height : rows(drawn.slice(0, cursor.row)) + Math.floor(cursor.column / columns);
      moved = true;
    },
    close(lines) {
      if (!open && lines.length === 0) return;
      moved = true;
      write(`${BEGIN}${paint(lines.map(oneLine), "")}${WRAP}${CURSOR_ON}${END}`);
      open = false;
      reopen();
    },
    abandon() {
      if (!open) return;
      open = false;
      write(`${move(height - cursorRow, "B")}\r${WRAP}${CURSOR_ON}`);
      cursorRow = height;
    },
    reopen,
  };
}
