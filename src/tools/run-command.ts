/**
 * The tool `run_command`: runs one program in a folder of the workspace.
 *
 * Invariants:
 *  1. There is no shell, unless the host allows it and the call asks for it: arguments arrive as they were written.
 *  2. The environment is an allow-list. No other variable of this process reaches the command.
 *  3. The answer says how the command ended and how much it printed. At most 60 KiB of output are shown. Longer output
 *     is saved in a file that the answer names.
 *  4. When the answer comes, no process of the command runs any more (run-process.ts).
 */

import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import type { BoundedOutput } from "../processes/bounded-output.ts";
import { type Enclosure, findEnclosure } from "../processes/enclosure.ts";
import { allowedVariables, DEFAULT_PATH } from "../processes/environment.ts";
import { findProgram } from "../processes/find-program.ts";
import type { SavedOutput } from "../processes/saved-output.ts";
import { failed, stopped, succeeded } from "./result.ts";
import { type CommandOutcome, runProcess } from "./run-process.ts";
import { defineArguments, flag, optionalText, textList, wholeNumber } from "./tool-arguments.ts";
import { createWorkspaceTool } from "./workspace-tool.ts";
import { escapedPath, type Refusal, type Workspace } from "./workspace.ts";

/** What commands of agents may see and do. */
export interface RunCommandOptions {
  readonly world: Pick<World, "after" | "random" | "wall">;
  /** Usually `process.env`. Commands only get the variables of the allow-list. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** More variables for the allow-list, such as `JAVA_HOME`. */
  readonly environmentNames?: readonly string[];
  /** True: calls may ask for a shell. Default: false. */
  readonly allowShell?: boolean;
  /** The longest time limit that a call may ask for. Default: 3600. */
  readonly maxTimeoutSeconds?: number;
  /** `process-table`: never use a pid namespace. Default: `auto`. */
  readonly enclosure?: "auto" | "process-table";
  /** Called once, before the first command, if commands run without a namespace. Default: a warning of the process. */
  readonly onUnenclosed?: (notice: string) => void;
}

export const UNENCLOSED =
  "Commands run without a namespace of their own here: " +
  "one that was allowed can read this process's environment, keys included.";

const SHELL = "/bin/sh";

const ARGV = { items: 1_000, bytes: 96 * 1024 };
const OUTPUT_BYTES = 256 * 1024 * 1024;
const SECONDS = 120;
const MAX_SECONDS = 3_600;
const EXAMPLE = '{"argv": ["git", "status", "--short"]}';

interface CommandValues {
  readonly argv: readonly string[];
  readonly folder: string;
  readonly timeout_seconds: number;
  readonly shell: boolean;
}

export function createRunCommandTool(options: RunCommandOptions): Tool {
  const allowShell = options.allowShell ?? false;
  const environment = allowedVariables(options.environment, options.environmentNames ?? []);
  let enclosure: Promise<Enclosure> | null = null;

  async function chooseEnclosure(): Promise<Enclosure> {
    if (options.enclosure === "process-table") return { prefix: [] };
    const found = await findEnclosure(environment);
    if (found.prefix.length === 0) (options.onUnenclosed ?? warn)(UNENCLOSED);
    return found;
  }

  async function runCommand(
    { argv, folder, timeout_seconds: seconds, shell }: CommandValues,
    workspace: Workspace,
    { signal }: ToolContext,
  ): Promise<ToolOutput | Refusal> {
    const target = await workspace.locate(folder);
    if ("refused" in target) return target;
    if (target.kind === "file")
      return failed(`"${escapedPath(target.relative)}" is a file. Give the folder to work in.`);
    const [name = "", ...parameters] = shell ? [SHELL, "-c", ...argv] : argv;
    const program = await findProgram(name, target.absolute, environment["PATH"] ?? DEFAULT_PATH);
    if (program === null) return failed(noProgram(name, allowShell));
    enclosure ??= chooseEnclosure();
    const found = await enclosure;
    if (signal.aborted) return stopped();
    const outcome = await runProcess({
      program,
      parameters,
      folder: target.absolute,
      workspace: workspace.root,
      startedAt: options.world.wall(),
      environment,
      limitMs: seconds * 1_000,
      outputBytes: OUTPUT_BYTES,
      signal,
      enclosure: found,
      world: options.world,
    });
    return answer(outcome, seconds, name);
  }

  return createWorkspaceTool({
    name: "run_command",
    description:
      "Runs a program in the workspace, without a shell: each item of argv arrives as it is written. " +
      "It gets no input. " +
      "When it ends, or at its time limit, every process that it started is ended. " +
      "Long output is cut in the middle and saved whole in a file.",
    safe: false,
    arguments: commandArguments(options),
    pathOf: ({ folder }) => folder,
    run: runCommand,
  });
}

function warn(notice: string): void {
  process.emitWarning(notice);
}

function commandArguments({ allowShell = false, maxTimeoutSeconds: max = MAX_SECONDS }: RunCommandOptions) {
  const shell = flag("True: argv holds one text, a command line for /bin/sh.");
  return defineArguments<CommandValues>(
    {
      argv: textList(ARGV, 'The program and its arguments, such as ["npm", "test"].'),
      folder: optionalText(".", "The folder to work in, from the workspace. Default: the workspace."),
      timeout_seconds: wholeNumber({ min: 1, max, standard: Math.min(SECONDS, max) }, "The time limit in seconds."),
      shell: allowShell ? shell : { ...shell, schema: null },
    },
    EXAMPLE,
    ({ argv, shell }) => {
      if (shell && !allowShell) return `there is no shell here. Give the program and its arguments: ${EXAMPLE}.`;
      if (!shell || argv.length === 1) return null;
      const example = '{"argv": ["ls | wc -l"], "shell": true}';
      return `with \`shell\` the list holds one text, the whole command line: ${example}.`;
    },
  );
}

function noProgram(name: string, allowShell: boolean): string {
  const shown = `"${escapedPath(name.slice(0, 200))}"`;
  if (!/\s/.test(name)) return `there is no program ${shown}. Give one that is installed, or a path from the folder.`;
  const remedy = allowShell ? "or set `shell`" : "there is no shell here";
  return `there is no program ${shown}. Give each argument as an item of its own, such as ["npm", "test"]; ${remedy}.`;
}

function answer(outcome: CommandOutcome, seconds: number, name: string): ToolOutput {
  if (outcome.end === "not-started")
    return failed(`"${escapedPath(name.slice(0, 200))}" could not be started (${outcome.problem ?? "unknown error"}).`);
  const parts = [
    endLine(outcome, seconds),
    ...outputLines("stdout", outcome.stdout),
    ...savedLine(outcome.saved.stdout),
    ...outputLines("stderr", outcome.stderr),
    ...savedLine(outcome.saved.stderr),
  ];
  if (outcome.left > 0) parts.splice(1, 0, `${outcome.left} of its processes could not be ended. Tell the user.`);
  const text = parts.join("\n");
  if (outcome.end === "exited") return outcome.code === 0 ? succeeded(text) : { text, failed: true };
  return failed(text);
}

function endLine({ end, code, signal }: CommandOutcome, seconds: number): string {
  const note = "What it printed until then is below; what it changed stays changed.";
  switch (end) {
    case "time-limit":
      return `the command was ended at its time limit of ${seconds} seconds. ${note}`;
    case "stopped":
      return `the call was stopped, and the command was ended. ${note}`;
    case "output-limit":
      return `the command was ended because it printed more than ${OUTPUT_BYTES} bytes. ${note}`;
    case "exited":
    case "not-started":
      return code === null ? `ended by ${signal ?? "a signal"}` : `exit code ${code}`;
  }
}

function savedLine({ path, problem, bytes }: SavedOutput): readonly string[] {
  if (problem !== null) return [`(the whole could not be kept: ${problem})`];
  return path === null ? [] : [`(the whole, ${bytes} bytes, is in ${path}; read_file can look into it)`];
}

function outputLines(name: string, output: BoundedOutput): readonly string[] {
  if (output.bytes === 0) return [];
  const text = output.text().trimEnd();
  const heading = `${name} (${output.bytes} bytes`;
  // U+FFFD is longer than the byte that it stands for, so the answer could exceed its limit.
  if (text.includes("\uFFFD")) return [`${heading}, some not UTF-8 and shown as ?):`, text.replaceAll("\uFFFD", "?")];
  return [`${heading}):`, text];
}
