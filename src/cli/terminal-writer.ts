/**
 * The only way to standard output and standard error. `npm run check:purity` finds any other.
 *
 * Invariants:
 *  1. Everything that the process prints passes here, also what a package prints through `console` or `process.stdout`.
 *  2. What is printed holds no control character but line feed and tab, no escape sequence, and no character that
 *     changes the direction of text. Two exceptions: colours with the token of this process; and, through `draw`, the
 *     controls of a live picture.
 *  3. No secret that Errand was configured with is printed (invariant I28).
 *  4. Writing never throws, also when the reader has gone.
 */

import { writeSync } from "node:fs";
import { isatty, type WriteStream } from "node:tty";
import type { ColourToken } from "./text/colours.ts";
import { terminalText } from "./text/terminal-text.ts";

export interface TerminalWriter {
  out(text: string): void;
  err(text: string): void;
  /** To standard output, with the controls that frame.ts writes. */
  draw(text: string): void;
  /** Resolves once the reader of standard output has room for more; false when it has gone. */
  drained(): Promise<boolean>;
  /** The process is ending: text that is not written at once is lost. */
  hurry(): void;
  /** Calls back after all output was written. */
  flushed(done: () => void): void;
  /** Standard output, for its size; null if it is no terminal. */
  readonly terminal: WriteStream | null;
}

type Write = (text: string, done?: () => void) => boolean;
type Done = (error?: Error | null) => void;

export function createTerminalWriter(token: ColourToken, redact: (text: string) => string): TerminalWriter {
  const { stdout, stderr } = process;
  const colours = token === null ? [] : [`\\u001b\\[(\\d{1,2});${token}m`];
  const printed = new RegExp(["(?!)", ...colours].join("|"), "g");
  // The sequences and the carriage return of frame.ts, and those that switch the marks around what is pasted.
  const controls = ["\\u001b\\[\\?(?:2026|2004|25|7)[hl]", "\\u001b\\[\\d{1,5}[ABC]", "\\u001b\\[[JK]", "\\r"];
  const drawn = new RegExp([...controls, ...colours].join("|"), "g");
  let gone = false;
  let hurried = false;
  // A reader that has gone (`errand run | head -1`) ends the output, not the work.
  for (const stream of [stdout, stderr]) stream.on("error", () => undefined);
  stdout.on("error", () => {
    gone = true;
  });
  const write = { out: guarded(stdout), err: guarded(stderr) };

  /** What packages write is text like any other. */
  function guarded(stream: NodeJS.WriteStream): Write {
    const raw: Write = stream.write.bind(stream);
    stream.write = (chunk: string | Uint8Array, encoding?: BufferEncoding | Done, done?: Done): boolean => {
      const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
      const called = typeof encoding === "function" ? encoding : done;
      return raw(filtered(redact(text), printed), () => called?.());
    };
    return raw;
  }

  function put(to: "out" | "err", text: string): void {
    if (!hurried) return void write[to](text);
    try {
      writeSync(to === "out" ? 1 : 2, text);
    } catch {
      // It has no reader any more.
    }
  }

  return {
    out: (text) => put("out", filtered(redact(text), printed)),
    err: (text) => put("err", filtered(redact(text), printed)),
    draw: (text) => put("out", filtered(redact(text), drawn)),
    async drained() {
      if (!gone && stdout.writableNeedDrain) await roomOrEnd(stdout);
      return !gone;
    },
    hurry() {
      hurried = true;
    },
    flushed: (done) => void write.out("", () => write.err("", done)),
    terminal: isatty(1) ? stdout : null,
  };
}

/** The text with these sequences, and without any other. A colour loses its token. */
function filtered(text: string, allowed: RegExp): string {
  let clean = "";
  let end = 0;
  for (const match of text.matchAll(allowed)) {
    const [sequence, colour] = match;
    clean += `${terminalText(text.slice(end, match.index))}${colour === undefined ? sequence : `\u001b[${colour}m`}`;
    end = match.index + sequence.length;
  }
  return end === 0 ? terminalText(text) : clean + terminalText(text.slice(end));
}

/** Resolves when the stream takes more, or never will. */
function roomOrEnd(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const settled = (): void => {
      for (const event of ["drain", "error", "close"]) stream.off(event, settled);
      resolve();
    };
    for (const event of ["drain", "error", "close"]) stream.once(event, settled);
  });
}
