/**
 * Sets the project up and runs a TypeScript file of it on the project's own Node, for `npm start` and similar commands.
 *
 * Plain JavaScript, Node 18 or newer, because a fresh clone has only the machine's Node. Each script of package.json is
 * one command that uses this file, not `setup && node …`: a shell remembers the Node of the first command.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { projectNode, root, setUpOrExit } from "./setup.mjs";

/**
 * This process ends with the exit code of the file's process.
 * @param {string} file relative to the root
 * @param {readonly string[]} args
 * @param {{ scratch?: boolean }} [options] scratch: register new stores in a temporary data folder, not in the user's
 */
export function runSources(file, args, { scratch = false } = {}) {
  setUpOrExit();
  const data = scratch ? mkdtempSync(join(tmpdir(), "errand-data-")) : null;
  const env = data === null ? process.env : { ...process.env, XDG_DATA_HOME: data };
  const child = spawn(projectNode, [join(root, file), ...args], { stdio: "inherit", env });

  // Ctrl-C in a terminal reaches the child directly, and this process twice, because npm forwards it too.
  const atTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  process.on("SIGINT", () => {
    if (!atTerminal) child.kill("SIGINT");
  });
  for (const signal of /** @type {const} */ (["SIGTERM", "SIGHUP"])) process.on(signal, () => child.kill(signal));

  // npm sends SIGTERM to the shell between it and this process. Some shells die of it and do not forward it.
  if (["start", "eval"].includes(process.env["npm_lifecycle_event"] ?? "")) {
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(watch);
      child.kill("SIGTERM");
    }, 200);
    watch.unref();
  }

  child.on("error", (error) => {
    process.stderr.write(`errand: the project's own Node could not be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    if (data !== null) rmSync(data, { recursive: true, force: true });
    process.exitCode = signal === null ? (code ?? 1) : 128 + constants.signals[signal];
  });
}
