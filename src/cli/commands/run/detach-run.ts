/**
 * `errand run --detach`: starts this program again in a process of its own, and waits until that has taken the task.
 *
 * Invariants:
 *  1. The process belongs to no terminal and to no job of a shell: it stays when they end.
 *  2. The task and the store go through a pipe, not through the arguments, which every user of the machine can read: a
 *     store may be a URL with a password.
 *  3. A process that could not take the task leaves nothing behind, and the reason is thrown here.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { Readable } from "node:stream";
import { ErrandError, type ErrorCode, ERROR_CODES } from "../../../errors.ts";
import type { CommandCall } from "../../command.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { unusable } from "../../files/file-lines.ts";
import { requireFile } from "../../store/open-view.ts";
import { makeProjectFolder } from "../../store/own-store.ts";
import { databaseIs, projectScope, scopeName } from "../../store/scope.ts";
import { commandWords } from "../completion/command-words.ts";
import { logPathOf } from "./background.ts";
import { ANSWER_DESCRIPTOR, type BackgroundAnswer, type BackgroundTask, readAnswer } from "./handover.ts";

/** Options of this command that the background process is not given. It learns its store with the task. */
const OWN: ReadonlySet<string> = new Set(["--detach", "--json", "--store"]);

export async function detachRun(call: CommandCall, task: string): Promise<ExitCode> {
  const { options, scope, host } = call;
  if (scope.kind === "named") requireFile(scope.store);
  // A log in the data folder stands beside the record of its project.
  if (scope.kind === "project" || databaseIs(scope)) await makeProjectFolder(projectScope(host.folder, host), host);
  const log = logPathOf(scope, host);
  let interrupted = false;
  let stopListening = (): void => undefined;
  try {
    const args = ["run", "--detached", ...givenOptions(call)];
    const { tree, pid } = await startBackground(args, { task, scope }, log, (child) => {
      stopListening = host.onSignal("SIGINT", () => {
        interrupted = true;
        child.kill("SIGINT");
      });
    });
    if (options.json === true) host.out(jsonLine({ type: "detached", tree, pid, store: scopeName(scope), log }));
    else {
      host.out(`${tree}\n`);
      host.err(`works in the background (pid ${pid}); watch it with: errand logs -f ${tree}\n`);
    }
    return EXIT.done;
  } catch (thrown) {
    if (interrupted) return EXIT.interrupted;
    throw thrown;
  } finally {
    stopListening();
  }
}

/** The options of the command line as words again. */
function givenOptions({ commands, options }: CommandCall): string[] {
  const command = commands.find(({ name }) => name === "run");
  const given = new Map(Object.entries(options));
  return (command === undefined ? [] : commandWords(command).options).flatMap(({ long, value }) => {
    const name = long.slice(2).replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
    const typed: unknown = OWN.has(long) ? undefined : given.get(name);
    if (value !== null && typeof typed === "string") return [long, typed];
    return value === null && typed === true ? [long] : [];
  });
}

/** `onStarted` is given the process before it has taken the task. */
async function startBackground(
  args: readonly string[],
  task: BackgroundTask,
  log: string,
  onStarted: (child: Pick<ChildProcess, "kill">) => void,
): Promise<{ readonly tree: string; readonly pid: number }> {
  const opened = openLog(log);
  const [, entry = ""] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, entry, ...args], {
    detached: true,
    stdio: ["pipe", opened.descriptor, opened.descriptor, "pipe"],
  });
  closeSync(opened.descriptor);
  onStarted(child);
  const failed = new Promise<never>((_resolve, reject) => child.on("error", reject));
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(JSON.stringify(task));
  const pipe = child.stdio[ANSWER_DESCRIPTOR];
  const answer = readAnswer(await Promise.race([pipe instanceof Readable ? text(pipe) : "", failed]));
  if (answer?.type === "accepted") {
    child.unref();
    return { tree: answer.tree, pid: child.pid ?? 0 };
  }
  const printed = readFileSync(log, "utf8").slice(opened.size);
  opened.removeIfEmpty();
  throw answer === null ? endedEarly(printed) : refusalOf(answer);
}

interface OpenedLog {
  readonly descriptor: number;
  readonly size: number;
  /** Removes what was made for a log in which nothing was written. */
  removeIfEmpty(): void;
}

function openLog(path: string): OpenedLog {
  const folder = dirname(path);
  try {
    const made = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined;
    const descriptor = openSync(path, "a", 0o600);
    const { size } = statSync(path);
    return { descriptor, size, removeIfEmpty: () => removeIfEmpty(path, made ? folder : null) };
  } catch (thrown) {
    throw unusable(path, "written", thrown);
  }
}

function removeIfEmpty(path: string, folder: string | null): void {
  if (statSync(path).size > 0) return;
  rmSync(path);
  try {
    if (folder !== null) rmdirSync(folder);
  } catch {
    // The folder holds something else.
  }
}

function refusalOf({ code, message, remedy }: Extract<BackgroundAnswer, { type: "refused" }>): Error {
  if (!Object.hasOwn(ERROR_CODES, code)) return new Error(message);
  return new ErrandError(code as ErrorCode, message, remedy === null ? {} : { remedy });
}

function endedEarly(printed: string): ErrandError {
  const last = printed.trim().split("\n").at(-1) ?? "";
  const why = last === "" ? "" : `: ${last}`;
  return new ErrandError("background-failed", `The background process ended before it had taken the task${why}`, {
    remedy: "Try it without --detach to see what happens.",
  });
}
