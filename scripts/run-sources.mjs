/**
 * Runs a TypeScript file of the repository on the project's own Node, after setting the project up. For `npm start` and its like.
 *
 * Plain JavaScript, Node 18 or newer: on a fresh clone it is the machine's Node that runs this. A script of package.json is one
 * command that calls it, not `setup && node …`, because a shell keeps the Node that it found for the first of two commands.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { projectNode, root, setUpOrExit } from "./setup.mjs";

/**
 * The file's exit code becomes this process's.
 * @param {string} file relative to the root
 * @param {readonly string[]} args
 * @param {{ scratch?: boolean }} [how] scratch: the stores that it makes are registered in a data folder that goes
 * with it, not in the user's own
 */
export function runSources(file, args, { scratch = false } = {}) {
  setUpOrExit();
  const data = scratch ? mkdtempSync(join(tmpdir(), "errand-data-")) : null;
  const env = data === null ? process.env : { ...process.env, XDG_DATA_HOME: data };
  const child = spawn(projectNode, [join(root, file), ...args], { stdio: "inherit", env });

  // Ctrl-C in a terminal reaches the child by itself (and this process twice, because npm passes it on as well).
  const atTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  process.on("SIGINT", () => {
    if (!atTerminal) child.kill("SIGINT");
  });
  for (const signal of /** @type {const} */ (["SIGTERM", "SIGHUP"])) process.on(signal, () => child.kill(signal));

  // npm passes a SIGTERM to the shell between it and this process, and some shells die of it without passing it on.
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
