/** `errand run [TASK|-]`: what its words and options mean. */

import { createColours } from "../text/colours.ts";
import type { ModelProvider } from "../../contracts/model.ts";
import { ErrandError } from "../../errors.ts";
import type { Display } from "../display/display.ts";
import { createJsonDisplay, jsonLine, problemRecord } from "../display/jsonl.ts";
import { createLiveDisplay } from "../display/live.ts";
import { createPlainDisplay } from "../display/plain.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { problemExit, problemOf, reportProblem } from "../problem.ts";
import { runTask } from "../run/run-task.ts";

export interface RunOptions {
  readonly model: string;
  readonly store: string;
  readonly json?: boolean;
  readonly debug?: boolean;
  readonly timeout?: string;
}

const DEMO_TASK = "Explain what this project is, how its source is organised and where its tests are";

export async function runCommand(
  task: string | undefined,
  options: RunOptions,
  host: Host,
  models: readonly ModelProvider[],
): Promise<ExitCode> {
  const output = { err: host.err, colours: createColours(host.colours.err), debug: options.debug === true };
  try {
    const timeoutMs = timeoutOf(options.timeout);
    const text = await taskText(task, host);
    const request = { task: text, model: options.model, store: options.store, timeoutMs, models };
    const { code, problem } = await runTask(request, host, displayFor(options, host));
    if (problem !== null) reportProblem(problem, output);
    return code;
  } catch (thrown) {
    const problem = problemOf(explained(thrown, options));
    if (options.json === true) host.out(jsonLine(problemRecord(problem)));
    reportProblem(problem, output);
    return problemExit(problem);
  }
}

function displayFor(options: RunOptions, host: Host): Display {
  if (options.json === true) return createJsonDisplay(host);
  return host.screen === null ? createPlainDisplay(host) : createLiveDisplay(host, host.screen);
}

async function taskText(task: string | undefined, host: Host): Promise<string> {
  if (task === undefined) return DEMO_TASK;
  const text = task === "-" ? await host.readInput() : task;
  if (text.trim() !== "") return text.trim();
  const where = task === "-" ? "standard input" : "the command line";
  throw new ErrandError("usage", `The task on ${where} is empty`, { remedy: 'Say what to do: errand run "your task"' });
}

/** Longer than this is no limit any more. */
const LONGEST_TIMEOUT_S = 7 * 24 * 3_600;

function timeoutOf(given: string | undefined): number | null {
  if (given === undefined) return null;
  const seconds = /^\d+(\.\d+)?$/.test(given) ? Number(given) : 0;
  if (seconds > 0 && seconds <= LONGEST_TIMEOUT_S) return seconds * 1_000;
  throw new ErrandError("usage", `--timeout takes a number of seconds above 0, not "${given}"`, {
    remedy: "For example: errand run --timeout 60",
  });
}

/** What only the command line knows about an error of the library. */
function explained(thrown: unknown, { model }: RunOptions): unknown {
  if (!(thrown instanceof ErrandError) || thrown.code !== "model-unknown" || thrown.remedy !== undefined) return thrown;
  return new ErrandError(
    "model-unknown",
    `The model ${model} cannot be had: this version of Errand has the offline model only`,
    {
      remedy: "Leave out --model, or say --model offline/rehearsal. Real models arrive with a later version.",
      cause: thrown,
    },
  );
}
