/** Finds the command that a command line names, runs it, and turns its end into an exit code. */

import { Command as Commander, CommanderError, Option } from "commander";
import { ErrandError } from "../errors.ts";
import { type Command, COMMON_OPTIONS, type CommandOptions, type ProgramParts } from "./command.ts";
import { COMMANDS } from "./command-list.ts";
import { jsonLine, problemRecord } from "./display/jsonl.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import type { Host } from "./host.ts";
import { problemExit, problemOf, reportProblem } from "./problem.ts";
import { createRehearsalProvider } from "./rehearsal/rehearsal-provider.ts";
import { NO_SETTINGS, readSettings, type Settings } from "./settings/settings.ts";
import { chooseScope } from "./store/scope.ts";
import { terminalLine } from "./text/terminal-text.ts";
import { readVersion } from "./version.ts";

/** Runs one command and returns its exit code. Never throws. */
export async function runProgram(args: readonly string[], host: Host, parts: ProgramParts = {}): Promise<ExitCode> {
  let json = false;
  try {
    let code: ExitCode = EXIT.done;
    const program = buildProgram(args[0], host, async (command, given, options, typed) => {
      json = options.json === true;
      const action = await command.load();
      const settings = command.ownSettings === true ? NO_SETTINGS : await readSettings(host);
      for (const notice of settings.notices) host.err(`${terminalLine(notice)}\n`);
      code = await action({
        args: given,
        options: { ...options, ...untyped(command, settings, typed) },
        scope: chooseScope(options.store, settings, host),
        host,
        models: [
          ...(parts.models?.(options.baseUrl ?? settings.baseUrl ?? undefined) ?? []),
          createRehearsalProvider(host.world),
        ],
        runners: parts.runners ?? [],
        commands: COMMANDS,
        settings,
      });
    });
    if (args.length === 0) host.out(program.helpInformation() + PROGRAM_EXAMPLES);
    else await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return EXIT.done;
    const problem = problemOf(thrown instanceof CommanderError ? usageError(thrown, args[0]) : thrown);
    if (json) host.out(jsonLine(problemRecord(problem)));
    reportProblem(problem, host, args.includes("--debug"));
    return problemExit(problem);
  }
}

type Call = (
  command: Command,
  args: readonly (string | undefined)[],
  options: CommandOptions,
  /** True for an option that was typed. */
  typed: (name: string) => boolean,
) => Promise<void>;

/** Options that were not typed and that the settings give. */
function untyped(
  { options }: Command,
  { timeoutSeconds }: Settings,
  typed: (name: string) => boolean,
): Partial<CommandOptions> {
  const timed = options.some(([flags]) => flags.startsWith("--timeout"));
  return timeoutSeconds === null || !timed || typed("timeout") ? {} : { timeout: String(timeoutSeconds) };
}

/** The program with the named command; with all commands if none is named. */
function buildProgram(named: string | undefined, host: Host, call: Call): Commander {
  const program = new Commander("errand")
    .description("Delegation between LLM agents that comes back: once, in a known shape, across any crash.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .addHelpText("after", PROGRAM_EXAMPLES)
    .exitOverride()
    // runProgram prints all errors, in one form.
    .configureOutput({ writeOut: host.out, writeErr: () => undefined, outputError: () => undefined });
  const known = COMMANDS.filter(({ name }) => name === named);
  for (const command of known.length === 0 ? COMMANDS : known) addCommand(program, command, call);
  return program;
}

function addCommand(program: Commander, command: Command, call: Call): void {
  const made = program.command(command.name).description(command.description);
  for (const [name, meaning] of command.args) made.argument(name, meaning);
  for (const [flags, meaning, value] of command.options) {
    if (command.needed?.includes(flags) === true) made.requiredOption(flags, meaning);
    else made.option(flags, meaning, value);
  }
  for (const flags of command.hidden ?? []) made.addOption(new Option(flags).hideHelp());
  const [[store, kept], ...others] = COMMON_OPTIONS;
  made.option(store, command.memory === true ? `${kept}; memory keeps nothing` : kept);
  for (const [flags, meaning] of others) made.option(flags, meaning);
  made.addHelpText("after", command.help).action((...given: unknown[]) => {
    const args = given.slice(0, command.args.length).map((arg) => (typeof arg === "string" ? arg : undefined));
    const typed = (name: string): boolean => made.getOptionValueSource(name) === "cli";
    return call(command, args, made.opts<CommandOptions & Record<string, unknown>>(), typed);
  });
}

/** An error of commander in the form of Errand's own: one sentence, a code, a hint. */
function usageError(thrown: CommanderError, command: string | undefined): ErrandError {
  const message = thrown.message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ");
  const many = thrown.code === "commander.excessArguments";
  const task = thrown.code === "commander.unknownCommand" || (many && command === "run");
  const example = task ? 'A task is one argument in quotes: errand run "your task". ' : "";
  const known = COMMANDS.some(({ name }) => name === command);
  return new ErrandError("usage", message, {
    remedy: `${example}See errand ${known ? `${command} ` : ""}--help.`,
    cause: thrown,
  });
}

const PROGRAM_EXAMPLES = `
Examples:
  errand demo                                   a process is killed at work, another one finishes; offline
  errand run "where is the store opened?"       your own task
  errand ps --all                               the trees of the store, with their short ids and titles
  errand show last                              the newest tree and its runs; logs, result and chat take last too
  errand run --help                             everything about a command

Exit codes: 0 done, 1 failed, 2 wrong use, 3 limit or timeout, 130 interrupted.
`;
