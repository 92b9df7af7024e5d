/** Worker processes of a test: started, killed, paused, and asked what they said. */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type RecordLine, recordOf } from "../crash/evidence.ts";
import type { WorkerProgram } from "./worker-program.ts";

const PROGRAM = fileURLToPath(new URL("./worker-program.ts", import.meta.url));
const COMPILED = fileURLToPath(new URL("../../node_modules/.cache/errand-crash", import.meta.url));
const START_WITHIN_MS = 60_000;

export interface Worker {
  kill(signal: NodeJS.Signals): void;
  /** What it has said so far. */
  said(): readonly RecordLine[];
  /** The signal that ended it, or its exit code. */
  readonly gone: Promise<NodeJS.Signals | number | null>;
}

/** Starts one and waits until it takes trees. Its words are kept in a file of the folder, with its errors. */
export async function startWorker(folder: string, name: string, options: WorkerProgram): Promise<Worker> {
  const record = join(folder, `${name}.jsonl`);
  const [output, errors] = [openSync(record, "w"), openSync(join(folder, `${name}.err`), "w")];
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
    stdio: ["ignore", output, errors],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, NODE_OPTIONS: "" },
  });
  closeSync(output);
  closeSync(errors);
  const gone = new Promise<NodeJS.Signals | number | null>((resolve) => {
    child.on("exit", (code, signal) => resolve(signal ?? code));
  });
  const said = (): readonly RecordLine[] => recordOf(record);
  for (const end = performance.now() + START_WITHIN_MS; !said().some((line) => "started" in line); await sleep(20)) {
    if (child.exitCode !== null || performance.now() > end) throw new Error(`worker ${name} did not start: ${folder}`);
  }
  return { kill: (signal) => void child.kill(signal), said, gone };
}
