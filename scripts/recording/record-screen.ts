/** Runs a command in a pseudo-terminal and records its screen over time. */

import { spawn } from "node:child_process";
import xterm, { type IBuffer, type IBufferLine, type Terminal } from "@xterm/headless";

/** Text of one style, without gaps inside. */
export interface TextRun {
  readonly row: number;
  readonly column: number;
  readonly text: string;
  /** One of the sixteen colours of a terminal; null for the default colour. */
  readonly colour: number | null;
  readonly bold: boolean;
  readonly dim: boolean;
}

/** What the screen shows from `atMs` on, until the next frame. */
export interface Frame {
  readonly atMs: number;
  readonly runs: readonly TextRun[];
}

export interface Recording {
  readonly frames: readonly Frame[];
  readonly exitCode: number | null;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface RecordRequest {
  /** A command for the shell. */
  readonly command: string;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly size: Size;
}

/** `script` of util-linux makes the pseudo-terminal; @xterm/headless interprets its output. */
export function recordScreen({ command, folder, env, size }: RecordRequest): Promise<Recording> {
  const terminal = new xterm.Terminal({ cols: size.columns, rows: size.rows, allowProposedApi: true });
  const inside = `stty cols ${size.columns} rows ${size.rows} && exec ${command}`;
  const child = spawn("script", ["-qefc", inside, "/dev/null"], { cwd: folder, env });
  const began = performance.now();
  const frames: Frame[] = [];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const atMs = performance.now() - began;
    terminal.write(chunk, () => {
      // The program is in the middle of drawing.
      if (terminal.modes.synchronizedOutputMode) return;
      frames.push({ atMs, runs: screenRuns(terminal, size) });
    });
  });
  return new Promise((resolve, reject) => {
    child.on("error", (cause) => reject(new Error("A recording needs the program `script` of util-linux", { cause })));
    // The callback of this empty write runs after those of all earlier writes.
    child.on("close", (exitCode) => terminal.write("", () => resolve({ frames, exitCode })));
  });
}

function screenRuns(terminal: Terminal, { rows }: Size): readonly TextRun[] {
  const buffer: IBuffer = terminal.buffer.active;
  return Array.from({ length: rows }, (_, row) => {
    const line = buffer.getLine(buffer.viewportY + row);
    return line === undefined ? [] : lineRuns(line, row);
  }).flat();
}

/** A gap of two cells or a change of style ends a run. */
function lineRuns(line: IBufferLine, row: number): readonly TextRun[] {
  const runs: TextRun[] = [];
  let gap = 0;
  for (let column = 0; column < line.length; column += 1) {
    const cell = line.getCell(column);
    const text = cell?.getChars() ?? "";
    if (cell === undefined || text.trim() === "") {
      gap += 1;
      continue;
    }
    const style = {
      colour: cell.isFgPalette() && cell.getFgColor() < 16 ? cell.getFgColor() : null,
      bold: cell.isBold() !== 0,
      dim: cell.isDim() !== 0,
    };
    const last = runs.at(-1);
    const same = last?.colour === style.colour && last.bold === style.bold && last.dim === style.dim;
    if (last === undefined || !same || gap > 1) runs.push({ row, column, text, ...style });
    else runs[runs.length - 1] = { ...last, text: `${last.text}${" ".repeat(gap)}${text}` };
    gap = 0;
  }
  return runs;
}
