/**
 * Starts this program again in a process of its own, without a terminal, and waits until it has taken the task.
 *
 * Invariants:
 *  1. The process belongs to no terminal and to no shell's job: it stays when they go.
 *  2. The task and the store go through a pipe, not through the arguments, which every user of the machine can read: a store may be a URL
 *     with a password.
 *  3. A process that could not take the task leaves nothing behind, and why is thrown here.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { Readable } from "node:stream";
import { ErrandError, type ErrorCode, ERROR_CODES } from "../../../errors.ts";
import { unusable } from "../../files/file-lines.ts";
import { type Handed, handedText } from "./handed.ts";
import { readStartingWord, type StartingWord, WORD_DESCRIPTOR } from "./starting-word.ts";

export interface BackgroundRequest {
  /** The command's words, without its task and its store. */
  readonly args: readonly string[];
  readonly handed: Handed;
  /** Where what it prints goes. */
  readonly log: string;
  /** Called once it runs, with what ends it should the command be interrupted before the task is taken. */
  started(child: Pick<ChildProcess, "kill">): void;
}

export interface Started {
  readonly tree: string;
  readonly pid: number;
}

export async function startBackground({ args, handed, log, started }: BackgroundRequest): Promise<Started> {
  const opened = openLog(log);
  const [, entry = ""] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, entry, ...args], {
    detached: true,
    stdio: ["pipe", opened.descriptor, opened.descriptor, "pipe"],
  });
  closeSync(opened.descriptor);
  started(child);
  const failed = new Promise<never>((_resolve, reject) => child.on("error", reject));
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(handedText(handed));
  const pipe = child.stdio[WORD_DESCRIPTOR];
  const word = readStartingWord(await Promise.race([pipe instanceof Readable ? text(pipe) : "", failed]));
  if (word?.type === "accepted") {
    child.unref();
    return { tree: word.tree, pid: child.pid ?? 0 };
  }
  const said = readFileSync(log, "utf8").slice(opened.size);
  opened.undo();
  throw word === null ? endedEarly(said) : refusalOf(word);
}

interface OpenedLog {
  readonly descriptor: number;
  readonly size: number;
  /** Removes what was made for a log in which nothing stands. */
  undo(): void;
}

function openLog(path: string): OpenedLog {
  const folder = dirname(path);
  try {
    const made = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined;
    const descriptor = openSync(path, "a", 0o600);
    const { size } = statSync(path);
    return { descriptor, size, undo: () => removeEmpty(path, made ? folder : null) };
  } catch (thrown) {
    throw unusable(path, "written", thrown);
  }
}

function removeEmpty(path: string, folder: string | null): void {
  if (statSync(path).size > 0) return;
  rmSync(path);
  try {
    if (folder !== null) rmdirSync(folder);
  } catch {
    // Something else is in it.
  }
}

function refusalOf({ code, message, remedy }: Extract<StartingWord, { type: "refused" }>): Error {
  if (!Object.hasOwn(ERROR_CODES, code)) return new Error(message);
  return new ErrandError(code as ErrorCode, message, remedy === null ? {} : { remedy });
}

function endedEarly(said: string): ErrandError {
  const last = said.trim().split("\n").at(-1) ?? "";
  const why = last === "" ? "" : `: ${last}`;
  return new ErrandError("background-failed", `The background process ended before it had taken the task${why}`, {
    remedy: "Try it without --detach to see what happens.",
  });
}
