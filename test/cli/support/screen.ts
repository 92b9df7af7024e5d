/**
 * A terminal's screen, as far as Errand's output uses one: text, line feeds, cursor up and down, erasing, and the modes
 * of the cursor and of wrapping. Throws on a sequence that it does not know, so that a test notices what it does not
 * check.
 */

export interface ScreenState {
  /** All lines, those that scrolled out at the top included, without spaces at their ends. */
  readonly lines: string[];
  readonly cursorVisible: boolean;
  readonly wraps: boolean;
  /** Where the cursor is, among these lines. */
  readonly cursor: { readonly row: number; readonly column: number };
  /** How many lines text was written on. */
  readonly linesWritten: number;
}

// oxlint-disable-next-line no-control-regex
const TOKENS = /\u001b\[\??[0-9;]*[A-Za-z]|[\r\n]|[^\u001b\r\n]+/gu;

export function screenOf(output: string): ScreenState {
  const lines: string[] = [""];
  let row = 0;
  let column = 0;
  let cursorVisible = true;
  let wraps = true;
  let linesWritten = 0;
  for (const [token] of output.matchAll(TOKENS)) {
    const number = Number(/\d+/.exec(token)?.[0] ?? 1);
    if (token === "\r") column = 0;
    else if (token === "\n") {
      row += 1;
      column = 0;
      lines[row] ??= "";
    } else if (!token.startsWith("\u001b")) {
      const line = (lines[row] ?? "").padEnd(column);
      lines[row] = line.slice(0, column) + token + line.slice(column + token.length);
      column += token.length;
      linesWritten += 1;
    } else if (token.endsWith("m") || token.includes("?2026") || token.includes("?2004")) continue;
    else if (token.includes("?25")) cursorVisible = token.endsWith("h");
    else if (token.includes("?7")) wraps = token.endsWith("h");
    else if (token.endsWith("A")) row = Math.max(0, row - number);
    else if (token.endsWith("B")) row = Math.min(lines.length - 1, row + number);
    else if (token.endsWith("C")) column += number;
    else if (token.endsWith("K")) lines[row] = (lines[row] ?? "").slice(0, column);
    else if (token.endsWith("J")) {
      lines[row] = (lines[row] ?? "").slice(0, column);
      lines.length = row + 1;
    } else throw new Error(`unknown sequence ${JSON.stringify(token)}`);
  }
  return { lines: lines.map((line) => line.trimEnd()), cursorVisible, wraps, linesWritten, cursor: { row, column } };
}
