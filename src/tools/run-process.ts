/**
 * Runs one command under the supervisor (processes/supervise.ts), and collects its outputs.
 *
 * Invariants:
 *  1. It resolves when no process of the command runs, however the command ended: by itself, at its time limit, by an
 *     abort, or because it printed too much.
 *  2. Memory is limited to the shown part of the outputs (processes/bounded-output.ts).
 *  3. The command gets no input.
 *  4. Nothing throws: a program that cannot be started is an outcome.
 */

import type { World } from "../contracts/world.ts";
import { type BoundedOutput, createBoundedOutput } from "../processes/bounded-output.ts";
import type { Enclosure } from "../processes/enclosure.ts";
import { type ProcessEnd, superviseProcess } from "../processes/supervise.ts";
import { createSavedOutput, type SavedOutput } from "../processes/saved-output.ts";
import { OUTPUT_FOLDER } from "./workspace.ts";

export type CommandEnd = "exited" | "time-limit" | "stopped" | "output-limit" | "not-started";

export interface CommandOutcome extends ProcessEnd {
  readonly end: CommandEnd;
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
  /** The whole outputs, if they are too long to be shown. */
  readonly saved: { readonly stdout: SavedOutput; readonly stderr: SavedOutput };
}

export interface CommandRequest {
  /** An absolute path. */
  readonly program: string;
  readonly parameters: readonly string[];
  readonly folder: string;
  /** Outputs that are too long to be shown are saved below it. */
  readonly workspace: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly limitMs: number;
  readonly outputBytes: number;
  readonly signal: AbortSignal;
  readonly enclosure: Enclosure;
  readonly world: Pick<World, "after" | "random">;
  /** Saved outputs are named after it, so that they sort by age. */
  readonly startedAt: number;
}

const STDOUT = { head: 20 * 1024, tail: 20 * 1024 };
const STDERR = { head: 8 * 1024, tail: 8 * 1024 };
const MARK_DIGITS = 32;
const NAME_DIGITS = 8;

export async function runProcess(request: CommandRequest): Promise<CommandOutcome> {
  const { world, signal } = request;
  const mark = world.random(MARK_DIGITS);
  const place = { base: request.workspace, folder: OUTPUT_FOLDER };
  const name = `${request.startedAt}-${mark.slice(0, NAME_DIGITS)}`;
  const saved = {
    stdout: createSavedOutput({ ...place, name: `${name}-stdout.txt` }),
    stderr: createSavedOutput({ ...place, name: `${name}-stderr.txt` }),
  };
  const stdout = createBoundedOutput(STDOUT.head, STDOUT.tail, (chunk) => saved.stdout.add(chunk));
  const stderr = createBoundedOutput(STDERR.head, STDERR.tail, (chunk) => saved.stderr.add(chunk));
  let reason: CommandEnd | null = null;

  const collect = (output: BoundedOutput) => (chunk: Buffer) => {
    output.add(chunk);
    if (stdout.bytes + stderr.bytes > request.outputBytes) endBecause("output-limit");
  };
  const command = superviseProcess({
    program: request.program,
    parameters: request.parameters,
    folder: request.folder,
    environment: request.environment,
    enclosure: request.enclosure,
    mark,
    input: false,
    timers: world,
    onOutput: collect(stdout),
    onErrorOutput: collect(stderr),
  });
  function endBecause(why: CommandEnd): void {
    reason ??= why;
    command.end(0);
  }

  const onAbort = (): void => endBecause("stopped");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const cancelLimit = world.after(request.limitMs, () => endBecause("time-limit"));
  const ended = await command.ended;
  cancelLimit();
  signal.removeEventListener("abort", onAbort);
  saved.stdout.close();
  saved.stderr.close();
  return { ...ended, end: ended.problem === null ? (reason ?? "exited") : "not-started", stdout, stderr, saved };
}
