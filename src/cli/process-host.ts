/** The host of a real process. */

import { fstatSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { isatty, type WriteStream } from "node:tty";
import { createSystemWorld } from "../runtime/world.ts";
import type { Host, Screen } from "./host.ts";
import { terminalKeys } from "./terminal-keys.ts";

/** Where Node.js does not know the size of a terminal. */
const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

export function createProcessHost(): Host {
  const { stdout, stderr, env } = process;
  const capable = env["TERM"] !== "dumb";
  const coloured = capable && (env["NO_COLOR"] ?? "") === "";
  let leaving = false;
  let gone = false;
  // A reader that has gone (`errand run | head -1`) ends the output, not the work.
  for (const stream of [stdout, stderr]) stream.on("error", () => undefined);
  stdout.on("error", () => {
    gone = true;
  });
  quietExperiments();

  function writer(stream: NodeJS.WriteStream, descriptor: number): (text: string) => void {
    return (written) => {
      if (!leaving) return void stream.write(written);
      try {
        // The process is ending: what is not written now is never written.
        writeSync(descriptor, written);
      } catch {
        // Nobody reads it any more.
      }
    };
  }

  return {
    world: createSystemWorld(),
    env,
    folder: process.cwd(),
    home: homedir(),
    out: writer(stdout, 1),
    err: writer(stderr, 2),
    async drained() {
      if (!gone && stdout.writableNeedDrain) await roomOrEnd(stdout);
      return !gone;
    },
    screen: capable && isatty(1) ? screenOf(stdout) : null,
    colours: { out: coloured && isatty(1), err: coloured && isatty(2) },
    keys: isatty(0) ? terminalKeys(process.stdin) : null,
    piped: pipedIs(0),
    readInput: async () => (await import("node:stream/consumers")).text(process.stdin),
    input: () => process.stdin,
    onSignal(signal, listener) {
      process.on(signal, listener);
      return () => void process.off(signal, listener);
    },
    onExit(listener) {
      const called = (): void => {
        leaving = true;
        listener();
      };
      process.on("exit", called);
      return () => void process.off("exit", called);
    },
    suspend: () => void process.kill(process.pid, "SIGSTOP"),
    end(code) {
      process.exitCode = code;
      stdout.write("", () => stderr.write("", () => process.exit(code)));
    },
    leave: (code) => process.exit(code),
  };
}

function pipedIs(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor);
    return stat.isFIFO() || stat.isSocket() || stat.isFile();
  } catch {
    // It is closed.
    return false;
  }
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

function screenOf(stream: WriteStream): Screen {
  return {
    size: () => ({ columns: stream.columns || USUAL_COLUMNS, rows: stream.rows || USUAL_ROWS }),
    onResize(listener) {
      stream.on("resize", listener);
      return () => void stream.off("resize", listener);
    },
  };
}

/** Some versions of Node.js warn of `node:sqlite` being young; a user of Errand can do nothing with that. */
function quietExperiments(): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name !== "ExperimentalWarning") process.stderr.write(`${warning.name}: ${warning.message}\n`);
  });
}
