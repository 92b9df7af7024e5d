/**
 * What went wrong, as a user reads it: what happened with its code, and what to do. Never a stack, unless it was asked
 * for.
 */

import { type Colours, createColours } from "./text/colours.ts";
import { errorText, ErrandError, type ErrorCode } from "../errors.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import type { Host } from "./host.ts";
import { terminalLine } from "./text/terminal-text.ts";

export interface Problem {
  /** `internal`: something was thrown that is not one of Errand's own errors. It is a bug. */
  readonly code: ErrorCode | "internal";
  readonly message: string;
  readonly remedy: string | undefined;
  readonly thrown: unknown;
}

export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof ErrandError) {
    return { code: thrown.code, message: thrown.message, remedy: thrown.remedy, thrown };
  }
  return {
    code: "internal",
    message: errorText(thrown),
    remedy: "This is a bug in Errand. Run the command again with --debug, and report what it prints.",
    thrown,
  };
}

/** A notice for a person while the work continues, in one line. */
export function noticeLine({ message, remedy, code }: ErrandError): string {
  return terminalLine(`${message}${remedy === undefined ? "" : ` ${remedy}`} [${code}]`);
}

export function problemExit(problem: Problem): ExitCode {
  return problem.code === "usage" ? EXIT.usage : EXIT.failed;
}

function problemLines(problem: Problem, colours: Colours): string[] {
  const message = terminalLine(problem.message).replace(/\.$/, "");
  const lines = [`${colours.red("error:")} ${message} (${problem.code})`];
  if (problem.remedy !== undefined) lines.push(`  ${terminalLine(problem.remedy)}`);
  return lines;
}

/** The stacks of a thrown value and of its causes. */
function problemStacks(problem: Problem): string {
  const stacks: string[] = [];
  let thrown = problem.thrown;
  while (thrown instanceof Error) {
    stacks.push(thrown.stack ?? thrown.message);
    thrown = thrown.cause;
  }
  return stacks.join("\ncaused by: ");
}

export function reportProblem(problem: Problem, { err, colours }: Pick<Host, "err" | "colours">, debug: boolean): void {
  const lines = problemLines(problem, createColours(colours.err));
  if (debug) lines.push(problemStacks(problem));
  err(`${lines.join("\n")}\n`);
}

/** The same, with the remedy on a line of its own. */
export function noticeLines({ code, message, remedy }: ErrandError): string {
  const what = `${terminalLine(message)} [${code}]\n`;
  return remedy === undefined ? what : `${what}  ${terminalLine(remedy)}\n`;
}
