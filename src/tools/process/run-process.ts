/**
 * Owns the life of one command's processes, from start to the last one's end.
 *
 * Invariants:
 *  1. It resolves when nothing of the command runs any more, however it ended: by itself, at its time limit, on abort, or because it
 *     printed too much. What it left running when it ended is ended too.
 *  2. Memory is bounded by what is kept of the outputs (bounded-output.ts).
 *  3. The command gets no input, no shell, and no variable of the environment but those it was given and its mark.
 *  4. Nothing throws: a program that cannot be started is an outcome.
 */

import { type ChildProcess, spawn } from "node:child_process";
import type { World } from "../../contracts/world.ts";
import { type BoundedOutput, createBoundedOutput } from "./bounded-output.ts";
import type { Enclosure } from "./enclosure.ts";
import { endProcesses } from "./end-processes.ts";
import { createKeptOutput, type KeptOutput } from "./kept-output.ts";
import { MARK_NAME, processStartedAt } from "./process-table.ts";

export type ProcessEnd = "exited" | "time-limit" | "stopped" | "output-limit" | "not-started";

export interface ProcessOutcome {
  readonly end: ProcessEnd;
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it was not started: the code of the system's error. */
  readonly problem: string | null;
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
  /** The whole of them, where they were too long to be shown. */
  readonly kept: { readonly stdout: KeptOutput; readonly stderr: KeptOutput };
  /** Processes that the system would not end. */
  readonly left: number;
}

export interface ProcessRequest {
  /** An absolute path. */
  readonly program: string;
  readonly parameters: readonly string[];
  readonly folder: string;
  /** Where outputs that are too long to be shown are kept. */
  readonly workspace: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly limitMs: number;
  readonly outputBytes: number;
  readonly signal: AbortSignal;
  readonly enclosure: Enclosure;
  readonly world: Pick<World, "after" | "random">;
  /** When it was asked for: kept outputs are named after it, so that they sort by age. */
  readonly startedAt: number;
}

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly problem: string | null;
}

const STDOUT = { head: 20 * 1024, tail: 20 * 1024 };
const STDERR = { head: 8 * 1024, tail: 8 * 1024 };
/** How long the outputs may stay open after the last known process has ended. */
const CLOSING_MS = 500;
const MARK_DIGITS = 32;
const NAME_DIGITS = 8;

export async function runProcess(request: ProcessRequest): Promise<ProcessOutcome> {
  const { world, signal, enclosure } = request;
  const mark = world.random(MARK_DIGITS);
  const name = `${request.startedAt}-${mark.slice(0, NAME_DIGITS)}`;
  const kept = {
    stdout: createKeptOutput(request.workspace, `${name}-stdout.txt`),
    stderr: createKeptOutput(request.workspace, `${name}-stderr.txt`),
  };
  const stdout = createBoundedOutput(STDOUT.head, STDOUT.tail, (chunk) => kept.stdout.add(chunk));
  const stderr = createBoundedOutput(STDERR.head, STDERR.tail, (chunk) => kept.stderr.add(chunk));
  const namespaced = enclosure.prefix.length > 0;
  const child = start(request, mark);
  if (typeof child === "string") {
    return { end: "not-started", code: null, signal: null, problem: child, stdout, stderr, kept, left: 0 };
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
  // A namespace's starter exits after all that was in it; elsewhere something may have been left behind.
  if (!namespaced || ending !== null) await (ending ?? endAll());
  await closing(child, closed, world);
  kept.stdout.close();
  kept.stderr.close();
  return { end: exit.problem === null ? end : "not-started", ...exit, stdout, stderr, kept, left };
}

function start(request: ProcessRequest, mark: string): ChildProcess | string {
  const argv = [...request.enclosure.prefix, request.program, ...request.parameters];
  const [file = "", ...rest] = argv;
  try {
    return spawn(file, rest, {
      cwd: request.folder,
      env: { ...request.environment, [MARK_NAME]: mark },
      stdio: ["ignore", "pipe", "pipe"],
      // A session of its own, by which its processes are known.
      detached: true,
    });
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

/** A process that could not be recognised may hold the outputs open for ever: they are read to their end only for a while. */
async function closing(child: ChildProcess, closed: Promise<void>, world: Pick<World, "after">): Promise<void> {
  let cancel = (): void => {};
  const late = new Promise<void>((resolve) => {
    cancel = world.after(CLOSING_MS, resolve);
  });
  await Promise.race([closed, late]);
  cancel();
  child.stdout?.destroy();
  child.stderr?.destroy();
}
