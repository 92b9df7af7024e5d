/**
 * Starting, killing and restarting the program. What it prints goes straight to a file, so that nothing that was
 * acknowledged is lost with the pipe of a killed process.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type EvidenceFiles, markTorn, recordOf } from "./evidence.ts";
import type { ProgramOptions } from "./program-options.ts";

const PATIENCE_MS = 30_000;
const PROGRAM = fileURLToPath(new URL("./program.ts", import.meta.url));
/** Compiled sources, kept between starts: it makes hundreds of them affordable. */
const COMPILED = fileURLToPath(new URL("../../node_modules/.cache/errand-crash", import.meta.url));

/** A store, and beside it what the world outside saw. */
export interface Site extends EvidenceFiles {
  readonly folder: string;
  readonly store: string;
  readonly errors: string;
}

export function siteIn(folder: string): Site {
  return {
    folder,
    store: join(folder, "errand.db"),
    record: join(folder, "record.jsonl"),
    toolFile: join(folder, "tool.log"),
    channelFile: join(folder, "channel.log"),
    errors: join(folder, "errors.log"),
  };
}

/** A folder of its own for a suite, and the way to be rid of it. */
export function scratchFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "errand-crash-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Started {
  readonly process: ChildProcess;
  readonly exit: Promise<Exit>;
}

export type SiteOptions = Omit<ProgramOptions, "store" | "toolFile" | "channelFile">;

export interface StartOptions {
  /** A command that runs the program, such as a tracer with its arguments. */
  readonly under?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly program?: string;
}

export function start(site: Site, options: SiteOptions = {}, how: StartOptions = {}): Started {
  const { store, toolFile, channelFile } = site;
  return startWith({ store, toolFile, channelFile, ...options }, site, how);
}

function startWith(argument: object, site: Pick<Site, "record" | "errors">, how: StartOptions): Started {
  const [command, ...args] = [...(how.under ?? []), process.execPath, how.program ?? PROGRAM, JSON.stringify(argument)];
  markTorn(site.record);
  const output = openSync(site.record, "a");
  const errors = openSync(site.errors, "a");
  const child = spawn(command ?? process.execPath, args, {
    stdio: ["ignore", output, errors],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, NODE_OPTIONS: "", ...how.env },
  });
  closeSync(output);
  closeSync(errors);
  const exit = new Promise<Exit>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve({ code, signal }));
  });
  return { process: child, exit };
}

/** Runs the program to its end. */
export function run(site: Site, options: SiteOptions = {}, how: StartOptions = {}): Promise<Exit> {
  return start(site, options, how).exit;
}

/** Restarts the program, which must come to its end by itself. */
export async function finish(site: Site, options: SiteOptions = {}): Promise<void> {
  const exit = await run(site, options);
  if (exit.code === 0) return;
  throw new Error(`the restarted program ended with ${exit.code ?? exit.signal}:\n${wordsOf(site)}`);
}

/** Restarts several stores in one new process, one after the other. */
export async function finishAll(sites: readonly Site[], options: SiteOptions = {}): Promise<void> {
  const [first] = sites;
  if (first === undefined) return;
  const all = sites.map(({ store, toolFile, channelFile, record }) => ({ store, toolFile, channelFile, record }));
  const exit = await startWith(
    all.map((one) => ({ ...one, ...options })),
    first,
    {},
  ).exit;
  if (exit.code === 0) return;
  const unfinished = sites.find((site) => !readFileSync(site.record, "utf8").includes('{"done":true}')) ?? first;
  throw new Error(`the restarted program ended with ${exit.code ?? exit.signal}:\n${wordsOf(unfinished)}`);
}

function wordsOf(site: Site): string {
  return [site.record, site.errors].map((path) => readFileSync(path, "utf8").slice(-2_000)).join("\n");
}

/** How many processes have opened this store so far. */
export function livesOf(site: Site): number {
  return recordOf(site.record).filter((line) => "started" in line).length;
}

/** Resolves when so many processes have opened the store, or this one is gone. */
export async function untilAtWork(site: Site, lives: number, gone: Promise<unknown>): Promise<void> {
  let over = false;
  void gone.then(() => (over = true));
  const end = performance.now() + PATIENCE_MS;
  while (!over && livesOf(site) < lives && performance.now() < end) await sleep(5);
}

/** Does the work for 0, 1, 2, …, two at a time, until one of them returns false. */
export async function twoAtATime(work: (index: number) => Promise<boolean>): Promise<void> {
  let next = 0;
  let going = true;
  const lane = async (): Promise<void> => {
    while (going) {
      const index = next;
      next += 1;
      if (!(await work(index))) going = false;
    }
  };
  await Promise.all([lane(), lane()]);
}
