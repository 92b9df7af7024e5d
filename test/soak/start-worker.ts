/** The process that does the work, as the one that watches it sees it. */

import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Order, Told, WorkerOptions } from "./messages.ts";

export interface SoakWorker {
  order(order: Order): void;
  /** The signal or code that it ended with; null while it lives. */
  readonly gone: string | null;
  /** What it wrote to its standard error. */
  errors(): string;
  /** As an operator would who has lost patience. Resolves when it is gone. */
  kill(): Promise<void>;
  /** False if it had to be killed. */
  close(withinMs: number): Promise<boolean>;
}

const PROGRAM = fileURLToPath(new URL("./worker.ts", import.meta.url));
const COMPILED = fileURLToPath(new URL("../../node_modules/.cache/errand-soak", import.meta.url));
const UP_WITHIN_MS = 60_000;
const MOST_ERRORS = 100_000;

/** Starts it and waits until it is up. */
export async function startWorker(options: WorkerOptions, onTold: (told: Told) => void): Promise<SoakWorker> {
  const child = spawn(process.execPath, ["--expose-gc", PROGRAM, JSON.stringify(options)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, NODE_OPTIONS: "" },
  });
  let errors = "";
  child.stderr?.on("data", (data: Buffer) => {
    errors = (errors + data.toString()).slice(-MOST_ERRORS);
  });
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  const up = new Promise<void>((resolve) => {
    child.on("message", (told: Told) => (told.told === "up" ? resolve() : onTold(told)));
  });
  const worker: SoakWorker = {
    order: (order) => void (child.connected && child.send(order, () => undefined)),
    get gone() {
      return child.exitCode === null && child.signalCode === null
        ? null
        : (child.signalCode ?? `code ${child.exitCode}`);
    },
    errors: () => errors,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    async close(withinMs) {
      if (worker.gone !== null) return true;
      worker.order({ do: "close" });
      const closed = await Promise.race([ended.then(() => true), sleep(withinMs, false, { ref: false })]);
      if (!closed) await worker.kill();
      return closed;
    },
  };
  const late = sleep(UP_WITHIN_MS, "late" as const, { ref: false });
  const first = await Promise.race([up, ended.then(() => "ended" as const), late]);
  if (first === undefined) return worker;
  await worker.kill();
  throw new Error(`The process of the soak did not come up: ${errors}`);
}
