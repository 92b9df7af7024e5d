/** Running the program under strace: killed at a system call, or with system calls that fail. */

import type { StartOptions } from "./processes.ts";

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
