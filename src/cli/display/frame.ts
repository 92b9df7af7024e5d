/**
 * Lines at the bottom of a terminal that are drawn again and again. Only lines that changed are written.
 *
 * Invariants:
 *  1. Between two calls the cursor stands at the beginning of the line below the frame.
 *  2. While a frame is open the cursor is hidden and lines do not wrap; `close` and `abandon` undo both, and are harmless when repeated.
 *  3. What one call writes is one write, which the terminal shows at once (synchronized output).
 */

import { stripVTControlCharacters } from "node:util";
import { displayWidth } from "../text/display-width.ts";

const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";
const WRAP = "\u001b[?7h";
const NO_WRAP = "\u001b[?7l";
const HIDE = `\u001b[?25l${NO_WRAP}`;
const SHOW = `${WRAP}\u001b[?25h`;
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\r\u001b[J";

export interface Frame {
  /** Draws these lines in the place of those before. */
  draw(lines: readonly string[]): void;
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
  let open = false;

  const up = (rows: number): string => (rows > 0 ? `\u001b[${rows}A` : "");
  const down = (rows: number): string => (rows > 0 ? `\u001b[${rows}B` : "");

  function whole(lines: readonly string[], before: string): string {
    const kept = before === "" ? "" : `${WRAP}${before}${NO_WRAP}`;
    const text = `${up(height)}${CLEAR_BELOW}${kept}${lines.map((line) => `${line}\n`).join("")}`;
    drawn = lines;
    height = lines.length;
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
    drawn = lines;
    height = lines.length;
    return text;
  }

  function put(text: string): void {
    if (text === "") return;
    const hide = open ? "" : HIDE;
    open = true;
    write(`${BEGIN}${hide}${text}${END}`);
  }

  return {
    draw: (lines) => put(changed(lines)),
    above: (text) => put(whole(drawn, text.endsWith("\n") ? text : `${text}\n`)),
    resized(columns) {
      height = 0;
      for (const line of drawn) {
        const width = displayWidth(stripVTControlCharacters(line));
        height += Math.max(1, Math.ceil(width / Math.max(1, columns)));
      }
      // Not to be mistaken for a frame whose lines are where they were.
      drawn = drawn.map(() => "");
    },
    close(lines) {
      const text = whole(lines, "");
      write(`${BEGIN}${text}${SHOW}${END}`);
      open = false;
      drawn = [];
      height = 0;
    },
    abandon() {
      if (!open) return;
      open = false;
      write(SHOW);
    },
    reopen() {
      drawn = [];
      height = 0;
    },
  };
}
