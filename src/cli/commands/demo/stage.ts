/**
 * The processes and the folder of the demonstration.
 *
 * Invariants:
 *  1. Processes are this program itself, with the words that a user would type. They see no settings, agents or keys of the user.
 *  2. However this process ends, short of being killed itself, none of its processes and nothing of its folder is left; a journal is left only
 *     where that was asked for.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { dataFolder } from "../../../stores/user-data.ts";
import type { Host } from "../../host.ts";

/** What a process said is kept to this many characters, the newest. */
const KEPT_OUTPUT = 65_536;

export interface Finished {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

export interface StageProcess {
  readonly pid: number;
  /** Resolves when it has ended and all it said is read. */
  readonly finished: Promise<Finished>;
  /** SIGKILL: it gets no chance to do anything. */
  kill(): void;
}

export interface Stage {
  /** The file of the store, in the folder. */
  readonly store: string;
  /** Starts this program with these words. */
  start(args: readonly string[]): StageProcess;
  /** Leaves the folder as it is when the stage is closed. */
  keep(): void;
  /** Ends what still runs, and removes the folder. */
  close(): Promise<void>;
}

export function openStage(host: Host): Stage {
  const folder = mkdtempSync(join(tmpdir(), "errand-demo-"));
  // The home is empty, but the data folder is this process's own: a store that is not in its register cannot be watched.
  const XDG_DATA_HOME = dirname(dataFolder(host));
  const env = { ...host.env, HOME: folder, USERPROFILE: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME };
  const running = new Set<StageProcess>();
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
      const child = spawn(process.execPath, [...process.execArgv, entry, ...args], {
        cwd: host.folder,
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const started = { pid: child.pid ?? 0, finished: finishedOf(child), kill: () => void child.kill("SIGKILL") };
      running.add(started);
      void started.finished.then(() => running.delete(started));
      return started;
    },
    keep() {
      kept = true;
    },
    async close() {
      const left = [...running];
      for (const process of left) process.kill();
      await Promise.all(left.map((process) => process.finished));
      off();
      remove();
    },
  };
}

function finishedOf(child: ChildProcess): Promise<Finished> {
  const said = { out: "", err: "" };
  for (const [name, stream] of [
    ["out", child.stdout],
    ["err", child.stderr],
  ] as const) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      said[name] = (said[name] + text).slice(-KEPT_OUTPUT);
    });
  }
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ code: null, signal: null, out: said.out, err: error.message }));
    child.on("close", (code, signal) => resolve({ code, signal, ...said }));
  });
}
