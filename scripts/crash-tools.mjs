/**
 * The outside tools of the crash tests: strace, which kills a process at a system call or makes the call fail, and libfaketime, which moves
 * its wall clock. Both are Debian packages; they are installed when they are missing and this user may. Where they cannot be had
 * the tests say so and use something weaker that is real all the same.
 *
 * Plain JavaScript, Node 18 or newer. `node scripts/crash-tools.mjs` installs what is missing and says nothing unless it cannot.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installPackages } from "./debian-packages.mjs";

/** @returns {boolean} True if strace is there and may trace: a container may forbid it. */
export function straceWorks() {
  const tried = spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "-e", "trace=exit_group", "true"], {
    stdio: "ignore",
  });
  return tried.status === 0;
}

/** @returns {string | null} The library of libfaketime, or null. */
export function faketimeLibrary() {
  const roots = existsSync("/usr/lib") ? readdirSync("/usr/lib").map((name) => join("/usr/lib", name)) : [];
  for (const folder of [...roots, "/usr/lib", "/usr/local/lib"]) {
    const library = join(folder, "faketime", "libfaketime.so.1");
    if (existsSync(library)) return library;
  }
  return null;
}

/** Installs what is missing, and says what is there. Quick when nothing is missing. */
export function crashTools() {
  const missing = [
    ...(spawnSync("strace", ["-V"], { stdio: "ignore" }).status === 0 ? [] : ["strace"]),
    ...(faketimeLibrary() === null ? ["libfaketime"] : []),
  ];
  if (missing.length > 0) installPackages(missing);
  return { strace: straceWorks(), faketime: faketimeLibrary() };
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { strace, faketime } = crashTools();
  if (!strace)
    process.stderr.write("strace cannot be had here: crash points are tested by commits instead of system calls.\n");
  if (faketime === null)
    process.stderr.write("libfaketime cannot be had here: clock jumps are tested by an injected clock.\n");
}
