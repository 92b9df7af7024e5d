/**
 * Starts a child that inherits its three standard streams and no other descriptor. Node.js closes its own descriptors
 * in children, and those that it inherited, but of these it stops looking after the first gap above number 16.
 */

import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;
const STANDARD = 3;

type Stream = "pipe" | "ignore";

export interface SealedOptions extends Omit<SpawnOptions, "stdio"> {
  readonly stdio: readonly [Stream, Stream, Stream];
}

/** In the child, /dev/null is in the place of every descriptor that it would inherit. */
export function spawnSealed(program: string, parameters: readonly string[], options: SealedOptions): ChildProcess {
  const inherited = new Set(inheritedDescriptors());
  const start = (others: readonly (number | "ignore")[]): ChildProcess =>
    spawn(program, parameters, { ...options, stdio: [...options.stdio, ...others] });
  if (inherited.size === 0) return start([]);
  const nothing = openSync("/dev/null", "r");
  try {
    // The others stay as they are: one of them is the pipe on which the child says that it could not be started.
    const others = Array.from({ length: Math.max(...inherited) + 1 - STANDARD }, (_, index) =>
      inherited.has(index + STANDARD) ? nothing : "ignore",
    );
    return start(others);
  } finally {
    closeSync(nothing);
  }
}

/** Without /proc they are not known, and only what Node.js does is done. */
function inheritedDescriptors(): readonly number[] {
  try {
    return readdirSync("/proc/self/fdinfo").map(Number).filter(inheritedIs);
  } catch {
    return [];
  }
}

function inheritedIs(descriptor: number): boolean {
  if (descriptor < STANDARD) return false;
  try {
    const [, flags = ""] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")) ?? [];
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // It was closed in the meantime, as the one that read the folder.
    return false;
  }
}
