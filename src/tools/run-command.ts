/**
 * Owns the tool `run_command`: one program with its arguments, in a folder of the workspace.
 *
 * Invariants:
 *  1. No shell, unless the host allowed it and the call asks for it: arguments arrive as they were written.
 *  2. The environment is an allow-list; nothing else of this process's environment reaches the command.
 *  3. The answer says how it ended, and how much it printed, also when not all is shown. At most 60 KiB are; what is longer is kept in a file that
 *     the answer names.
 *  4. When the answer comes, nothing of the command runs any more (process/run-process.ts).
 */

import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import { type Json, jsonObjectIs } from "../core/values/json.ts";
import type { BoundedOutput } from "./process/bounded-output.ts";
import { type Enclosure, findEnclosure } from "./process/enclosure.ts";
import type { KeptOutput } from "./process/kept-output.ts";
import { findProgram } from "./process/find-program.ts";
import { type ProcessOutcome, runProcess } from "./process/run-process.ts";
import { failed, stopped, succeeded } from "./result.ts";
import { argumentsRefused, createArgumentReader } from "./tool-arguments.ts";
import { locatePath, openWorkspace, pathShown, type Refusal } from "./workspace.ts";

export interface RunCommandOptions {
  readonly world: Pick<World, "after" | "random" | "wall">;
  /** Where variables are taken from: usually `process.env`. Only those of the allow-list are. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names of variables that commands get besides the usual ones, such as `JAVA_HOME`. */
  readonly environmentNames?: readonly string[];
  /** True: a call may ask for a shell. Default: false. */
  readonly allowShell?: boolean;
  /** The longest time a call may ask for. Default: 3600. */
  readonly maxTimeoutSeconds?: number;
  /** `process-table`: without a pid namespace, also where one is to be had. Default: `auto`. */
  readonly enclosure?: "auto" | "process-table";
  /** Told once, before the first command, that commands run without a namespace, and what follows. Default: a warning of the process. */
  readonly onUnenclosed?: (notice: string) => void;
}

/** What it means that the system gives commands no namespace of their own. */
export const UNENCLOSED =
  "Commands run without a namespace of their own here: one that was allowed can read this process's environment, keys included.";

/** What programs need to find their way, and nothing that is a secret by custom. */
const ENVIRONMENT_NAMES =
  "PATH HOME USER LOGNAME SHELL TERM TMPDIR TZ LANG LANGUAGE LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_NUMERIC LC_TIME";
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";
const SHELL = "/bin/sh";

const ARGV = { count: 1_000, bytes: 96 * 1024 };
const OUTPUT_BYTES = 256 * 1024 * 1024;
const TIMEOUT_SECONDS = 120;
const MAX_TIMEOUT_SECONDS = 3_600;
const EXAMPLE = '{"argv": ["git", "status", "--short"]}';

interface Wanted {
  readonly argv: readonly string[];
  readonly folder: string;
  readonly seconds: number;
  readonly shell: boolean;
}

export function createRunCommandTool(options: RunCommandOptions): Tool {
  const allowShell = options.allowShell ?? false;
  const environment = environmentOf(options);
  const max = options.maxTimeoutSeconds ?? MAX_TIMEOUT_SECONDS;
  const timeout = { min: 1, max, standard: Math.min(TIMEOUT_SECONDS, max) };
  let enclosure: Promise<Enclosure> | null = null;

  async function enclosed(): Promise<Enclosure> {
    const found = await findEnclosure(environment);
    if (found.prefix.length === 0) (options.onUnenclosed ?? warn)(UNENCLOSED);
    return found;
  }

  function argumentsOf(input: Json): Wanted | Refusal {
    const reader = createArgumentReader(input, ["argv", "folder", "timeout_seconds", "shell"], EXAMPLE);
    const argv = reader.requiredTexts("argv", ARGV);
    const folder = reader.text("folder") ?? ".";
    const seconds = reader.count("timeout_seconds", timeout);
    const shell = reader.flag("shell");
    if (reader.problem !== null) return { refused: reader.problem };
    if (shell && !allowShell)
      return { refused: `there is no shell here. Give the program and its arguments: ${EXAMPLE}.` };
    if (shell && argv.length !== 1)
      return {
        refused:
          'with `shell` the list holds one text, the whole command line: {"argv": ["ls | wc -l"], "shell": true}.',
      };
    return { argv, folder, seconds, shell };
  }

  async function runCommand(input: Json, context: ToolContext): Promise<ToolOutput> {
    const wanted = argumentsOf(input);
    if ("refused" in wanted) return failed(wanted.refused);
    const { argv, folder, seconds, shell } = wanted;
    const workspace = await openWorkspace(context.workspace, context.rules);
    if ("refused" in workspace) return failed(workspace.refused);
    const place = await workspace.locate(folder);
    if ("refused" in place) return failed(place.refused);
    if (place.kind === "file") return failed(`"${pathShown(place.shown)}" is a file. Give the folder to work in.`);
    const [name = "", ...parameters] = shell ? [SHELL, "-c", ...argv] : argv;
    const program = await findProgram(name, place.absolute, environment["PATH"] ?? DEFAULT_PATH);
    if (program === null) return failed(noProgram(name, allowShell));
    enclosure ??= options.enclosure === "process-table" ? Promise.resolve({ prefix: [] }) : enclosed();
    const found = await enclosure;
    if (context.signal.aborted) return stopped();
    const outcome = await runProcess({
      program,
      parameters,
      folder: place.absolute,
      workspace: workspace.root,
      startedAt: options.world.wall(),
      environment,
      limitMs: seconds * 1_000,
      outputBytes: OUTPUT_BYTES,
      signal: context.signal,
      enclosure: found,
      world: options.world,
    });
    return answer(outcome, seconds, name);
  }

  return {
    name: "run_command",
    description:
      "Runs a program in the workspace, without a shell: each item of argv arrives as it is written. It gets no input. " +
      "Everything it started is ended when it ends, or at its time limit. Long output is cut in the middle, " +
      "and kept whole in a file.",
    schema: {
      type: "object",
      properties: {
        argv: {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          description: 'The program and its arguments, such as ["npm", "test"].',
        },
        folder: { type: "string", description: "The folder to work in, from the workspace. Default: the workspace." },
        timeout_seconds: {
          type: "integer",
          minimum: timeout.min,
          maximum: timeout.max,
          description: `After how many seconds it is ended. Default: ${timeout.standard}.`,
        },
        ...(allowShell
          ? { shell: { type: "boolean", description: "True: argv holds one text, a command line for /bin/sh." } }
          : {}),
      },
      required: ["argv"],
    },
    safe: false,
    run: runCommand,
    locate: (input, { workspace }) => locatePath(jsonObjectIs(input) ? input["folder"] : undefined, workspace),
    check: (input) => argumentsRefused(argumentsOf(input)),
  };
}

function warn(notice: string): void {
  process.emitWarning(notice);
}

function environmentOf(options: RunCommandOptions): Readonly<Record<string, string>> {
  const names = [...ENVIRONMENT_NAMES.split(" "), ...(options.environmentNames ?? [])];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = options.environment[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

function noProgram(name: string, allowShell: boolean): string {
  const shown = `"${pathShown(name.slice(0, 200))}"`;
  if (!/\s/.test(name)) return `there is no program ${shown}. Give one that is installed, or a path from the folder.`;
  const remedy = allowShell ? "or set `shell`" : "there is no shell here";
  return `there is no program ${shown}. Give each argument as an item of its own, such as ["npm", "test"]; ${remedy}.`;
}

function answer(outcome: ProcessOutcome, seconds: number, name: string): ToolOutput {
  if (outcome.end === "not-started")
    return failed(`"${pathShown(name.slice(0, 200))}" could not be started (${outcome.problem ?? "unknown error"}).`);
  const parts = [
    endLine(outcome, seconds),
    ...shown("stdout", outcome.stdout),
    ...keptLine(outcome.kept.stdout),
    ...shown("stderr", outcome.stderr),
    ...keptLine(outcome.kept.stderr),
  ];
  if (outcome.left > 0) parts.splice(1, 0, `${outcome.left} of its processes could not be ended. Tell the user.`);
  const text = parts.join("\n");
  if (outcome.end === "exited") return outcome.code === 0 ? succeeded(text) : { text, failed: true };
  return failed(text);
}

function endLine({ end, code, signal }: ProcessOutcome, seconds: number): string {
  const kept = "What it printed until then is below; what it changed stays changed.";
  switch (end) {
    case "time-limit":
      return `the command was ended at its time limit of ${seconds} seconds. ${kept}`;
    case "stopped":
      return `the call was stopped, and the command was ended. ${kept}`;
    case "output-limit":
      return `the command was ended because it printed more than ${OUTPUT_BYTES} bytes. ${kept}`;
    case "exited":
    case "not-started":
      return code === null ? `ended by ${signal ?? "a signal"}` : `exit code ${code}`;
  }
}

/** Where the whole of a cut output is. */
function keptLine({ path, problem, bytes }: KeptOutput): readonly string[] {
  if (problem !== null) return [`(the whole could not be kept: ${problem})`];
  return path === null ? [] : [`(the whole, ${bytes} bytes, is in ${path}; read_file can look into it)`];
}

function shown(name: string, output: BoundedOutput): readonly string[] {
  if (output.bytes === 0) return [];
  const text = output.text().trimEnd();
  const heading = `${name} (${output.bytes} bytes`;
  // A replacement character is longer than the byte it stands for, and would break the bound.
  if (text.includes("\uFFFD")) return [`${heading}, some not UTF-8 and shown as ?):`, text.replaceAll("\uFFFD", "?")];
  return [`${heading}):`, text];
}
