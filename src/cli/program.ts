/**
 * The commands and their options, as commander reads them. What a command does is loaded when it is called, so that help stays quick.
 */

import { Command, CommanderError } from "commander";
import { createColours } from "./text/colours.ts";
import type { ModelProvider } from "../contracts/model.ts";
import { ErrandError } from "../errors.ts";
import type { RunOptions } from "./commands/run.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import type { Host } from "./host.ts";
import { problemExit, problemOf, reportProblem } from "./problem.ts";
import { readVersion } from "./version.ts";

/** What the command line is given by whoever runs it in a program of their own. */
export interface ProgramParts {
  /** Where models come from, beside the offline one. */
  readonly models?: readonly ModelProvider[];
}

const DEFAULT_STORE = ".errand/errand.db";
const DEFAULT_MODEL = "offline/rehearsal";

/** Runs one command and returns its exit code. Never throws. */
export async function runProgram(args: readonly string[], host: Host, parts: ProgramParts = {}): Promise<ExitCode> {
  const debug = args.includes("--debug");
  const output = { err: host.err, colours: createColours(host.colours.err), debug };
  try {
    return await parseAndRun(args, host, parts);
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return EXIT.done;
    const problem = problemOf(thrown instanceof CommanderError ? usageError(thrown) : thrown);
    reportProblem(problem, output);
    return problemExit(problem);
  }
}

async function parseAndRun(args: readonly string[], host: Host, parts: ProgramParts): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  const program = new Command("errand")
    .description("Delegation between LLM agents that comes back: once, in a known shape, across any crash.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .addHelpText("after", PROGRAM_EXAMPLES)
    .exitOverride()
    // What went wrong is told by runProgram, in one place and one form.
    .configureOutput({ writeOut: host.out, writeErr: () => undefined, outputError: () => undefined });

  program
    .command("run")
    .description("give a task to an agent that delegates parts of it, and print its answer")
    .argument("[task]", "the task; - reads it from standard input; without one, a demonstration")
    .option("-m, --model <provider/name>", "the model", DEFAULT_MODEL)
    .option("--store <path>", "the file that keeps conversations and runs; memory keeps nothing", DEFAULT_STORE)
    .option("--timeout <seconds>", "cancel the work when it takes longer, and exit with 3")
    .option("--json", "print one JSON object a line instead")
    .option("--debug", "print the stack of an error")
    .addHelpText("after", RUN_EXAMPLES)
    .action(async (task: string | undefined, options: RunOptions) => {
      const { runCommand } = await import("./commands/run.ts");
      code = await runCommand(task, options, host, parts.models ?? []);
    });

  if (args.length === 0) host.out(program.helpInformation() + PROGRAM_EXAMPLES);
  else await program.parseAsync([...args], { from: "user" });
  return code;
}

/** Commander's words in Errand's form: one sentence, a code, a hint. */
function usageError(thrown: CommanderError): ErrandError {
  const said = thrown.message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ");
  const task = thrown.code === "commander.unknownCommand" || thrown.code === "commander.excessArguments";
  const example = task ? 'A task is one argument in quotes: errand run "your task". ' : "";
  return new ErrandError("usage", said, { remedy: `${example}See errand --help.`, cause: thrown });
}

const PROGRAM_EXAMPLES = `
Examples:
  errand run                                    a demonstration, offline, about the current folder
  errand run "where is the store opened?"       your own task
  errand run --help                             everything about a command

Exit codes: 0 done, 1 failed, 2 wrong use, 3 limit or timeout, 130 interrupted.
`;

const RUN_EXAMPLES = `
Examples:
  errand run "where is the store opened?"
  errand run --model anthropic/… "explain the tests"
  git diff | errand run - > answer.txt
  errand run --json "list the tests" | jq -r 'select(.type == "answer").text'

In a terminal the tree of agents is drawn while it works. Elsewhere each change is a line on standard error, and
standard output holds the answer alone. Ctrl-C once cancels and says what is kept; twice leaves at once.
`;
