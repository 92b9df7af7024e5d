/** Running the program under strace: killed at a system call, with system calls that fail, or with a list of what it wrote and made durable. */

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
  // Only the main thread is traced (no -f): the store works on it, and a signal ends the whole process. Not with --seccomp-bpf, which would
  // be faster: with it strace 6.1 injects nothing.
  const inject = ["-e", `trace=${calls}`, "-e", `inject=${calls}:${what}`];
  return { under: ["strace", "-qq", "-o", "/dev/null", ...inject] };
}

/** What was on disk for certain, and what had been written, when a line of the program's record was written. In bytes of the store's log. */
export interface Moment {
  readonly durable: number;
  readonly written: number;
}

export function tracedInto(file: string): StartOptions {
  const calls = "trace=pwrite64,fsync,fdatasync,write";
  return { under: ["strace", "-qq", "-y", "-s", "0", "-o", file, "-e", calls] };
}

/** The moment of each line of the record, in their order. */
export function momentsIn(trace: string, site: Site): readonly Moment[] {
  const log = `${realpathSync(site.folder)}/${basename(site.store)}-wal`;
  const record = realpathSync(site.record);
  const moments: Moment[] = [];
  let [written, durable] = [0, 0];
  for (const line of readFileSync(trace, "utf8").split("\n")) {
    const [, call = "", path = "", rest = ""] = /^(\w+)\(\d+<([^>]+)>(.*)$/.exec(line) ?? [];
    const [, size = "0", offset = "0"] = /, (\d+), (\d+)\) += \d+$/.exec(rest) ?? [];
    if (path === log && call === "pwrite64") written = Math.max(written, Number(offset) + Number(size));
    else if (path === log && rest.endsWith("= 0")) durable = written;
    else if (path === record && call === "write") moments.push({ durable, written });
  }
  return moments;
}
