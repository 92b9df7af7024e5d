/**
 * Running the program under strace: killed at a system call, with system calls that fail, or with a list of what it
 * wrote and made durable.
 */

import { readFileSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import type { Site, StartOptions } from "./processes.ts";

/** How the n-th of some system calls goes wrong. */
type Fault = { readonly signal: "KILL" } | { readonly error: "EIO" | "ENOSPC"; readonly times: number };

export function tracedWith(calls: string, number: number, fault: Fault): StartOptions {
  const what =
    "signal" in fault
      ? `signal=${fault.signal}:when=${number}`
      : `error=${fault.error}:when=${number}..${number + fault.times - 1}`;
  // Only the main thread is traced (no -f): the store works on it, and a signal ends the whole process. Not with
  // --seccomp-bpf, which would
  // be faster: with it strace 6.1 injects nothing.
  const inject = ["-e", `trace=${calls}`, "-e", `inject=${calls}:${what}`];
  return { under: ["strace", "-qq", "-o", "/dev/null", ...inject] };
}

/**
 * What was on disk for certain, and what had been written, when a line of the program's record was written. In bytes of
 * the store's log.
 */
export interface Moment {
  readonly durable: number;
  readonly written: number;
}

export function tracedInto(file: string): StartOptions {
  const calls = "trace=pwrite64,fsync,fdatasync,write";
  return { under: ["strace", "-f", "-qq", "-y", "-s", "0", "-o", file, "-e", calls] };
}

/**
 * A call that begins, with its file and the rest of its line; or the rest of one that a call of another thread had come
 * between.
 */
const BEGINS = /^(\d+) +(\w+)\(\d+<([^>]+)>(.*)$/;
const GOES_ON = /^(\d+) +<\.\.\. \w+ resumed>/;

/** The moment of each line of the record, in their order. */
export function momentsIn(trace: string, site: Site): readonly Moment[] {
  const log = `${realpathSync(site.folder)}/${basename(site.store)}-wal`;
  const record = realpathSync(site.record);
  const moments: Moment[] = [];
  let [written, durable] = [0, 0];
  const open = new Map<string, () => void>();
  for (const line of readFileSync(trace, "utf8").split("\n")) {
    const [, thread = "", call = "", path = "", rest = ""] = BEGINS.exec(line) ?? [];
    if (path === record && call === "write") moments.push({ durable, written });
    if (path === log) {
      const [, size = "0", offset = "0"] = /, (\d+), (\d+)/.exec(rest) ?? [];
      // Of what is written while it is made durable nobody knows: what was there when that began counts.
      const sure = written;
      const done = (): void => {
        if (call === "pwrite64") written = Math.max(written, Number(offset) + Number(size));
        else durable = Math.max(durable, sure);
      };
      if (rest.includes("<unfinished")) open.set(thread, done);
      else done();
    }
    const [, other = ""] = GOES_ON.exec(line) ?? [];
    open.get(other)?.();
    open.delete(other);
  }
  return moments;
}
