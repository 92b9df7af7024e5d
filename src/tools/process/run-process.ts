/**
 * Runs one command and waits until all of its processes have ended.
 *
 * Invariants:
 *  1. It resolves when no process of the command runs, however the command ended: by itself, at its time limit, by an
 *     abort, or because it printed too much. Processes that it left behind are ended too.
 *  2. Memory is limited to the shown part of the outputs (bounded-output.ts).
 *  3. The command gets no input, no shell, and no environment variables except the given ones and its mark.
 *  4. Nothing throws: a program that cannot be started is an outcome.
 */

import { type ChildProcess, spawn } from "node:child_process";
import type { World } from "../../contracts/world.ts";
import { type BoundedOutput, createBoundedOutput } from "./bounded-output.ts";
import type { Enclosure } from "./enclosure.ts";
import { endProcesses } from "./end-processes.ts";
import { createSavedOutput, type SavedOutput } from "./saved-output.ts";
import { MARK_NAME, processStartedAt } from "./process-table.ts";

export type ProcessEnd = "exited" | "time-limit" | "stopped" | "output-limit" | "not-started";

export interface ProcessOutcome {
  readonly end: ProcessEnd;
  readonly code: number | null;
  readonly signal: string | null;
  /** The system's error code, if the program could not be started. */
  readonly problem: string | null;
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
  /** The whole outputs, if they are too long to be shown. */
  readonly saved: { readonly stdout: SavedOutput; readonly stderr: SavedOutput };
  /** How many processes could not be ended. */
  readonly left: number;
}

export interface ProcessRequest {
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

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly problem: string | null;
}

const STDOUT = { head: 20 * 1024, tail: 20 * 1024 };
const STDERR = { head: 8 * 1024, tail: 8 * 1024 };
/** How long the outputs are read after the last known process has ended. */
const CLOSING_MS = 500;
const MARK_DIGITS = 32;
const NAME_DIGITS = 8;

export async function runProcess(request: ProcessRequest): Promise<ProcessOutcome> {
  const { world, signal, enclosure } = request;
  const mark = world.random(MARK_DIGITS);
  const name = `${request.startedAt}-${mark.slice(0, NAME_DIGITS)}`;
  const saved = {
    stdout: createSavedOutput(request.workspace, `${name}-stdout.txt`),
    stderr: createSavedOutput(request.workspace, `${name}-stderr.txt`),
  };
  const stdout = createBoundedOutput(STDOUT.head, STDOUT.tail, (chunk) => saved.stdout.add(chunk));
  const stderr = createBoundedOutput(STDERR.head, STDERR.tail, (chunk) => saved.stderr.add(chunk));
  const namespaced = enclosure.prefix.length > 0;
  const child = start(request, mark);
  if (typeof child === "string") {
    return { end: "not-started", code: null, signal: null, problem: child, stdout, stderr, saved, left: 0 };
  }
  const root = child.pid;
  const startedAt = root === undefined ? 0 : processStartedAt(root);
  let end: ProcessEnd = "exited";
  let left = 0;
  let giveUp: (exit: Exit) => void = () => {};
  const exited = new Promise<Exit>((resolve) => {
    giveUp = resolve;
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve({ code: null, signal: null, problem: error.code ?? error.message }),
    );
    child.once("exit", (code, by) => resolve({ code, signal: by, problem: null }));
  });
  const closed = new Promise<void>((resolve) => void child.once("close", () => resolve()));

  async function endAll(): Promise<void> {
    if (root === undefined) return;
    left = await endProcesses({ root, mark, startedAt, namespaced }, world);
    if (left > 0) giveUp({ code: null, signal: "SIGKILL", problem: null });
  }

  let ending: Promise<void> | null = null;
  function endBecause(reason: ProcessEnd): void {
    if (ending !== null) return;
    end = reason;
    ending = endAll();
  }

  const collect = (output: BoundedOutput) => (chunk: Buffer) => {
    output.add(chunk);
    if (stdout.bytes + stderr.bytes > request.outputBytes) endBecause("output-limit");
  };
  child.stdout?.on("data", collect(stdout));
  child.stderr?.on("data", collect(stderr));
  const onAbort = (): void => endBecause("stopped");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const cancelLimit = world.after(request.limitMs, () => endBecause("time-limit"));

  const exit = await exited;
  cancelLimit();
  signal.removeEventListener("abort", onAbort);
  // The starter of a namespace exits after all processes in it. Without one, processes may have been left behind.
  if (!namespaced || ending !== null) await (ending ?? endAll());
  await waitForOutputs(child, closed, world);
  saved.stdout.close();
  saved.stderr.close();
  return { end: exit.problem === null ? end : "not-started", ...exit, stdout, stderr, saved, left };
}

function start(request: ProcessRequest, mark: string): ChildProcess | string {
  const argv = [...request.enclosure.prefix, request.program, ...request.parameters];
  const [file = "", ...rest] = argv;
  try {
    return spawn(file, rest, {
      cwd: request.folder,
      env: { ...request.environment, [MARK_NAME]: mark },
      stdio: ["ignore", "pipe", "pipe"],
      // A session of its own identifies its processes.
      detached: true,
    });
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

/** Waits a while for the end of the outputs. An unrecognised process may hold them open for ever. */
async function waitForOutputs(child: ChildProcess, closed: Promise<void>, world: Pick<World, "after">): Promise<void> {
  let cancel = (): void => {};
  const timeout = new Promise<void>((resolve) => {
    cancel = world.after(CLOSING_MS, resolve);
  });
  await Promise.race([closed, timeout]);
  cancel();
  child.stdout?.destroy();
  child.stderr?.destroy();
}
