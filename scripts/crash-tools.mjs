/**
 * External tools of the crash tests. strace kills a process at a system call, or makes the call fail; libfaketime
 * changes the wall clock of a process. Both are Debian packages, which this script installs if it may. Without them the
 * tests say so and use weaker means: a kill at a commit, an injected clock.
 *
 * Plain JavaScript, Node 18 or newer. `node scripts/crash-tools.mjs` prints only what it could not install.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installPackages } from "./debian-packages.mjs";

/** @returns {boolean} True if strace is installed and may trace. Some containers forbid it. */
export function straceWorks() {
  const tried = spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "-e", "trace=exit_group", "true"], {
    stdio: "ignore",
  });
  return tried.status === 0;
}

/** @returns {string | null} The path of the libfaketime library, or null. */
export function faketimeLibrary() {
  const roots = existsSync("/usr/lib") ? readdirSync("/usr/lib").map((name) => join("/usr/lib", name)) : [];
  for (const folder of [...roots, "/usr/lib", "/usr/local/lib"]) {
    const library = join(folder, "faketime", "libfaketime.so.1");
    if (existsSync(library)) return library;
  }
  return null;
}

/** Installs missing tools, and returns what is available. */
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
  if (!strace) process.stderr.write("strace is not available: crash tests kill at commits, not at system calls.\n");
  if (faketime === null)
    process.stderr.write("libfaketime is not available: clock jumps are tested with an injected clock.\n");
}
