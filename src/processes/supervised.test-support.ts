/** Outside processes of tests: real ones, found in the process table by a number that no other process sleeps. */

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { type Enclosure, findEnclosure } from "./enclosure.ts";
import { readProcessTable } from "./process-table.ts";
import { type SupervisedProcess, type SupervisedRequest, superviseProcess } from "./supervise.ts";
import { timers } from "./timers.test-support.ts";

const usual = { PATH: process.env["PATH"] ?? "" };
const found = await findEnclosure(usual);

/** The enclosures of this machine. The process table is always available. */
export const POSSIBLE_WAYS: readonly (readonly [string, Enclosure])[] = [
  ["a namespace", found] as const,
  ["the process table", { prefix: [] }] as const,
].slice(found.prefix.length > 0 ? 0 : 1);

export function newMark(): string {
  return randomBytes(16).toString("hex");
}

/** Runs a shell script under the supervisor. */
export function superviseScript(
  script: string,
  request: Pick<SupervisedRequest, "enclosure"> & Partial<SupervisedRequest>,
): { readonly child: SupervisedProcess; readonly output: () => string; readonly mark: string } {
  const chunks: Buffer[] = [];
  const mark = newMark();
  const child = superviseProcess({
    program: "/bin/sh",
    parameters: ["-c", script],
    folder: "/",
    environment: usual,
    mark,
    input: false,
    timers,
    onOutput: (chunk) => void chunks.push(chunk),
    onErrorOutput: () => undefined,
    ...request,
  });
  return { child, output: () => Buffer.concat(chunks).toString(), mark: request.mark ?? mark };
}

/** Live processes with the text in their command line. */
export function processesWith(text: string): readonly number[] {
  return readProcessTable().entries.flatMap(({ pid, alive }) => {
    try {
      return alive && pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text) ? [pid] : [];
    } catch {
      return [];
    }
  });
}

/** A number of seconds that no other process sleeps. */
export function ownSeconds(): string {
  return `7${Math.floor(Math.random() * 1e9)}.25`;
}

/** One success is enough: a process that is becoming another program is not found for a moment. */
export async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; waited < 20_000; waited += 20) {
    if (condition()) return;
    await sleep(20);
  }
  expect.fail("the condition was not met within twenty seconds");
}

/** Starts a daemon that forks twice, leads a session of its own and ignores SIGTERM. */
export function stubbornDaemon(seconds: string): string {
  return `(setsid sh -c 'trap "" TERM HUP INT; (sleep ${seconds} & wait; sleep ${seconds}) & exit 0' &)`;
}
