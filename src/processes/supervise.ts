/**
 * The one way to run an outside process: starts it under a guard, and ends it with all its processes.
 *
 * Invariants:
 *  1. `ended` resolves once, when no process of the tree runs, however it ended. Processes that were left behind are
 *     killed when the first one ends. It never rejects: a program that cannot be started is a `problem`.
 *  2. The tree dies with this process (guard.ts). Where a namespace is available, it lives in one (enclosure.ts).
 *  3. It gets the given variables and its mark, its three standard streams and no other descriptor, and no shell.
 *  4. `end` asks all its processes to end (SIGTERM) and kills them after the grace. Outputs are passed on until the
 *     last process has ended. Nothing is passed on after `ended`.
 *  5. Memory: outputs are passed on as they come and not kept. Input that the process does not read is limited.
 */

import type { ChildProcess } from "node:child_process";
import { spawnSealed } from "./descriptors.ts";
import type { Enclosure } from "./enclosure.ts";
import { askProcessesToEnd, endProcesses, type Timers } from "./end-processes.ts";
import { type Guard, startGuard } from "./guard.ts";
import { MARK_NAME, processStartedAt } from "./process-table.ts";

export interface SupervisedRequest {
  /** An absolute path. */
  readonly program: string;
  readonly parameters: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly enclosure: Enclosure;
  /** Identifies the processes of the tree: hexadecimal digits that no other tree of this machine has. */
  readonly mark: string;
  /** Whether `write` is used. Without it the process has an empty input. */
  readonly input: boolean;
  readonly timers: Timers;
  onOutput(chunk: Buffer): void;
  onErrorOutput(chunk: Buffer): void;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** The system's error code, if the program could not be started. */
  readonly problem: string | null;
  /** How many processes could not be killed. */
  readonly left: number;
}

export interface SupervisedProcess {
  /** Writes to its input. False if it does not read and too much waits: the text was dropped. */
  write(text: string): boolean;
  closeInput(): void;
  /** Called again with a shorter grace, the shorter one counts. */
  end(graceMs: number): void;
  readonly ended: Promise<ProcessEnd>;
}

type Exit = Omit<ProcessEnd, "left">;

/** The most input that waits for a process that does not read. */
const WAITING_INPUT_BYTES = 4 * 1024 * 1024;
/** How long the outputs are read after the last known process has ended. */
const CLOSING_MS = 500;

export function superviseProcess(request: SupervisedRequest): SupervisedProcess {
  const guard = startGuard(request.mark, () => end(0));
  if (guard === null) return notStarted("no guard could be started with /bin/sh");
  const started = start(request);
  if (typeof started === "string") return notStarted(started, guard);
  const child = started;
  const { timers } = request;
  const root = child.pid;
  const startedAt = root === undefined ? 0 : processStartedAt(root);
  const namespaced = request.enclosure.prefix.length > 0;
  const tree = { root: root ?? null, marks: [request.mark], startedAt, namespaced };
  if (root !== undefined) guard.watch(root, startedAt);

  let giveUp: (exit: Exit) => void = () => {};
  const exited = new Promise<Exit>((resolve) => {
    giveUp = resolve;
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve({ code: null, signal: null, problem: error.code ?? error.message }),
    );
    child.once("exit", (code, signal) => resolve({ code, signal, problem: null }));
  });
  const closed = new Promise<void>((resolve) => void child.once("close", () => resolve()));
  let over = false;
  child.stdout?.on("data", (chunk: Buffer) => void (over || request.onOutput(chunk)));
  child.stderr?.on("data", (chunk: Buffer) => void (over || request.onErrorOutput(chunk)));
  // A process may close its input or end before it has read it.
  child.stdin?.on("error", () => undefined);

  let left = 0;
  let killing: Promise<void> | null = null;
  let cancelKill = (): void => {};
  async function killAll(): Promise<void> {
    if (root === undefined) return;
    left = await endProcesses(tree, timers);
    if (left > 0) giveUp({ code: null, signal: "SIGKILL", problem: null });
  }

  function end(graceMs: number): void {
    if (over || killing !== null) return;
    cancelKill();
    if (graceMs <= 0) {
      killing = killAll();
      return;
    }
    askProcessesToEnd(tree);
    cancelKill = timers.after(graceMs, () => {
      killing ??= killAll();
    });
  }

  async function finish(): Promise<ProcessEnd> {
    const exit = await exited;
    cancelKill();
    // The starter of a namespace exits after all processes in it. Without one, processes may have been left behind.
    if (!namespaced || killing !== null) await (killing ??= killAll());
    await waitForOutputs(child, closed, timers);
    over = true;
    await guard?.release();
    return { ...exit, left };
  }

  return {
    write(text) {
      const input = child.stdin;
      if (over || input === null || !input.writable) return true;
      if (input.writableLength > WAITING_INPUT_BYTES) return false;
      input.write(text);
      return true;
    },
    closeInput: () => void child.stdin?.end(),
    end,
    ended: finish(),
  };
}

function notStarted(problem: string, guard?: Guard): SupervisedProcess {
  const end: ProcessEnd = { code: null, signal: null, problem, left: 0 };
  return {
    write: () => true,
    closeInput: () => {},
    end: () => {},
    ended: Promise.resolve(guard?.release()).then(() => end),
  };
}

function start(request: SupervisedRequest): ChildProcess | string {
  const argv = [...request.enclosure.prefix, request.program, ...request.parameters];
  const [file = "", ...rest] = argv;
  try {
    return spawnSealed(file, rest, {
      cwd: request.folder,
      env: { ...request.environment, [MARK_NAME]: request.mark },
      stdio: [request.input ? "pipe" : "ignore", "pipe", "pipe"],
      // A session of its own identifies its processes.
      detached: true,
    });
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

/** Waits a while for the end of the outputs. An unrecognised process may hold them open for ever. */
async function waitForOutputs(child: ChildProcess, closed: Promise<void>, timers: Timers): Promise<void> {
  let cancel = (): void => {};
  const timeout = new Promise<void>((resolve) => {
    cancel = timers.after(CLOSING_MS, resolve);
  });
  await Promise.race([closed, timeout]);
  cancel();
  child.stdin?.destroy();
  child.stdout?.destroy();
  child.stderr?.destroy();
}
