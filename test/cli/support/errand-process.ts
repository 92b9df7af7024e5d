/** Runs the command line as a user does: another process, from the sources, with its own folder and store. */

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { JSON_VERSION } from "../../../src/cli/display/json-types.ts";
import { projectFile, projectScope } from "../../../src/cli/store/scope.ts";
import { MODEL_SOURCES } from "../../../src/models/registry/model-sources.ts";

const ownNode = fileURLToPath(new URL("../../../node_modules/.bin/node", import.meta.url));
const node = existsSync(ownNode) ? ownNode : process.execPath;

/** The command itself, and the same program with models that take their time. */
const MAIN = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));
export const SLOW = fileURLToPath(new URL("./slow-errand.ts", import.meta.url));

/** A home in which nobody lives. */
const NOBODYS_HOME = join(tmpdir(), "errand-cli-no-home");
/** For code that is compiled: kept from test to test. */
const CACHE = join(tmpdir(), "errand-cli-cache");

/**
 * Whoever runs the tests may have chosen about colours, models and settings, and have keys; here the command chooses,
 * and nothing is paid for.
 */
const CHOSEN: ReadonlySet<string> = new Set([
  "NO_COLOR",
  "FORCE_COLOR",
  "XDG_CONFIG_HOME",
  "ERRAND_MODEL",
  "OPENAI_COMPATIBLE_BASE_URL",
  ...MODEL_SOURCES.flatMap(({ keys }) => keys),
]);
const NOBODYS_OLLAMA = "127.0.0.1:1";

export interface Finished {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

export interface RunningErrand {
  readonly pid: number;
  /** Resolves when what was written so far holds the text. */
  seen(text: string): Promise<void>;
  /** What was written to standard output so far. */
  shown(): string;
  kill(signal: NodeJS.Signals): void;
  type(text: string): void;
  /** Reads on, where it was told to pause. */
  goOn(): void;
  /** Closes its standard output, as `head` does. */
  stopReading(): void;
  readonly finished: Promise<Finished>;
}

export interface HowToRun {
  readonly folder: string;
  readonly entry?: string;
  readonly input?: string;
  /** Standard input stays open, for `type`; in a terminal it always does. */
  readonly open?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Reads the first that it prints, and no more until told to. */
  readonly paused?: boolean;
  /** The user's home folder. Default: one with nothing in it. */
  readonly home?: string;
  /** In a terminal of this size. */
  readonly terminal?: { readonly columns: number; readonly rows: number };
}

/** The words that run it. */
export function errandCommand(args: readonly string[], entry = MAIN): string[] {
  return [node, entry, ...args];
}

export function startErrand(args: readonly string[], how: HowToRun): RunningErrand {
  const command = errandCommand(args, how.entry);
  const [file = node, ...rest] = how.terminal === undefined ? command : inTerminal(command, how.terminal);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !CHOSEN.has(name)));
  const fresh = {
    HOME: how.home ?? NOBODYS_HOME,
    XDG_CACHE_HOME: CACHE,
    TERM: "xterm-256color",
    OLLAMA_HOST: NOBODYS_OLLAMA,
  };
  const child = spawn(file, rest, { cwd: how.folder, env: { ...env, ...fresh, ...how.env } });
  let out = "";
  let err = "";
  let waiting: { readonly text: string; readonly resolve: () => void }[] = [];
  const look = (): void => {
    waiting = waiting.filter(({ text, resolve }) => {
      if (!out.includes(text) && !err.includes(text)) return true;
      resolve();
      return false;
    });
  };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    if (out === "" && how.paused === true) child.stdout.pause();
    out += chunk;
    look();
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    err += chunk;
    look();
  });
  child.stdin.on("error", () => undefined);
  if (how.terminal === undefined && how.open !== true) child.stdin.end(how.input ?? "");
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, out, err }));
  });
  return {
    finished,
    shown: () => out,
    pid: child.pid ?? 0,
    goOn: () => void child.stdout.resume(),
    stopReading: () => void child.stdout.destroy(),
    seen(text) {
      const shown = new Promise<void>((resolve) => {
        waiting.push({ text, resolve });
        look();
      });
      const gone = finished.then((end) => {
        if (!end.out.includes(text) && !end.err.includes(text)) {
          throw new Error(`ended without ${JSON.stringify(text)}:\n${end.out}\n${end.err}`);
        }
      });
      return Promise.race([shown, gone]);
    },
    kill: (signal) => void child.kill(signal),
    type: (text) => void child.stdin.write(text),
  };
}

export function runErrand(args: readonly string[], how: HowToRun): Promise<Finished> {
  return startErrand(args, how).finished;
}

/** `script` of util-linux gives a command a terminal of its own. */
export const terminalAvailable = existsSync("/usr/bin/script");

function inTerminal(command: readonly string[], { columns, rows }: { columns: number; rows: number }): string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  return ["/usr/bin/script", "-qec", `stty cols ${columns} rows ${rows} && exec ${quoted}`, "/dev/null"];
}

/** A folder with a few files to look into, and the way to remove it. */
export function projectFolder(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "errand-cli-"));
  writeFileSync(join(folder, "package.json"), '{ "name": "sample", "description": "A sample project." }\n');
  writeFileSync(join(folder, "README.md"), "# Sample\n\nIt opens a store and closes it.\n");
  writeFileSync(join(folder, "store.ts"), "/** Opens the store. */\nexport const open = 1;\n");
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The store of a folder, as the command line names its file. */
export function storeOf(folder: string, number = 1): string {
  return projectFile(projectScope(folder, { env: process.env, home: NOBODYS_HOME }).folder, number);
}

/** The objects that `--json` printed, without the version that each of them has. */
export function records(out: string): Record<string, unknown>[] {
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const record: unknown = JSON.parse(line);
      if (typeof record !== "object" || record === null) throw new Error(`no object: ${line}`);
      const { v, ...rest } = { v: null, ...record };
      if (v !== JSON_VERSION) throw new Error(`no version: ${line}`);
      return rest;
    });
}
