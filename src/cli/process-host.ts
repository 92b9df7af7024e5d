/** The host of a real process. */

import { fstatSync } from "node:fs";
import { homedir } from "node:os";
import { isatty, type WriteStream } from "node:tty";
import { registrySecrets } from "../models/registry/model-sources.ts";
import { createRedactor } from "../runtime/redaction/redactor.ts";
import { createSystemWorld } from "../runtime/world.ts";
import { storeSecrets } from "../stores/store-url.ts";
import type { Host, Screen } from "./host.ts";
import { problemOf, reportProblem } from "./problem.ts";
import { terminalKeys } from "./terminal-keys.ts";
import { createTerminalWriter, type TerminalWriter } from "./terminal-writer.ts";
import { colourToken } from "./text/colours.ts";

/** The size of a terminal that Node.js does not know. */
const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;
const TOKEN_DIGITS = 18;

export function createProcessHost(): Host {
  const { env } = process;
  const world = createSystemWorld();
  const capable = env["TERM"] !== "dumb";
  const coloured = capable && (env["NO_COLOR"] ?? "") === "";
  const token = coloured ? colourToken(world.random(TOKEN_DIGITS)) : null;
  const redactor = createRedactor(configuredSecrets(env));
  const writer = createTerminalWriter(token, redactor.text);
  const { out, err, drained, terminal } = writer;
  const colours = { out: terminal === null ? null : token, err: isatty(2) ? token : null };
  printWarnings(writer);
  process.on("uncaughtException", (thrown) => {
    writer.hurry();
    reportProblem(problemOf(thrown), { err, colours }, process.argv.includes("--debug"));
    process.exit(1);
  });

  return {
    world,
    env,
    redactor,
    folder: process.cwd(),
    home: homedir(),
    out,
    err,
    drained,
    screen: capable && terminal !== null ? screenOf(terminal, writer) : null,
    colours,
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
        writer.hurry();
        listener();
      };
      process.on("exit", called);
      return () => void process.off("exit", called);
    },
    suspend: () => void process.kill(process.pid, "SIGSTOP"),
    end(code) {
      process.exitCode = code;
      writer.flushed(() => process.exit(code));
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

function screenOf(stream: WriteStream, { draw }: TerminalWriter): Screen {
  return {
    draw,
    size: () => ({ columns: stream.columns || USUAL_COLUMNS, rows: stream.rows || USUAL_ROWS }),
    onResize(listener) {
      stream.on("resize", listener);
      return () => void stream.off("resize", listener);
    },
  };
}

/** All but experimental ones: some versions of Node.js warn about `node:sqlite`, and a user can do nothing about it. */
function printWarnings({ err }: TerminalWriter): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name !== "ExperimentalWarning") err(`${warning.name}: ${warning.message}\n`);
  });
}

/** The secrets that the environment configures: keys of models, and passwords of databases. */
function configuredSecrets(env: Host["env"]): readonly string[] {
  const databases = ["ERRAND_DATABASE_URL", "DATABASE_URL"];
  const passwords = databases.flatMap((name) => storeSecrets(env[name]?.trim() ?? ""));
  return [...registrySecrets(env), ...passwords, env["PGPASSWORD"] ?? ""];
}
