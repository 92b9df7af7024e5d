/**
 * The processes of the demonstration, and the folder that they work in.
 *
 * Invariants:
 *  1. A process is this program with the arguments that a user would type. It sees no settings, agents or keys of the
 *     user.
 *  2. However this process ends, unless it is killed, its processes end and its folder is removed. `keep` leaves the
 *     folder.
 */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { dataFolder } from "../../../stores/user-data.ts";
import type { Host } from "../../host.ts";

export interface Finished {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

export interface DemoProcess {
  readonly pid: number;
  /** Resolves when it has ended and its output is read. */
  readonly finished: Promise<Finished>;
  /** Sends SIGKILL. */
  kill(): void;
}

export interface DemoProcesses {
  /** The path of the store, in the folder. */
  readonly store: string;
  /** Starts this program with these arguments. */
  start(args: readonly string[]): DemoProcess;
  /** Leaves the folder when the processes are closed. */
  keep(): void;
  /** Ends what still runs, and removes the folder. */
  close(): Promise<void>;
}

export function openDemoProcesses(host: Host): DemoProcesses {
  const folder = mkdtempSync(join(tmpdir(), "errand-demo-"));
  // The home is empty, but the data folder is the user's: a store that is not in its register cannot be watched.
  const XDG_DATA_HOME = dirname(dataFolder(host));
  const env = { ...host.env, HOME: folder, USERPROFILE: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME };
  const running = new Set<DemoProcess>();
  let kept = false;
  const remove = (): void => {
    if (!kept) rmSync(folder, { recursive: true, force: true });
  };
  const off = host.onExit(() => {
    for (const process of running) process.kill();
    remove();
  });
  return {
    store: join(folder, "demo.db"),
    start(args) {
      const [, entry = ""] = process.argv;
      const { promise, resolve } = Promise.withResolvers<Finished>();
      const all = [...process.execArgv, entry, ...args];
      const child = execFile(process.execPath, all, { cwd: host.folder, env }, (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : null;
        const why = error !== null && code === null && err === "" ? error.message : err;
        resolve({ code, signal: error?.signal ?? null, out, err: why });
      });
      child.stdin?.end();
      const started = { pid: child.pid ?? 0, finished: promise, kill: () => void child.kill("SIGKILL") };
      running.add(started);
      void promise.then(() => running.delete(started));
      return started;
    },
    keep: () => void (kept = true),
    async close() {
      const left = [...running];
      for (const process of left) process.kill();
      await Promise.all(left.map((process) => process.finished));
      off();
      remove();
    },
  };
}
