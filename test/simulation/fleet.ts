/**
 * Seeds over all cores: gives small batches to worker threads and joins their results. The order does not matter,
 * because seeds are independent.
 */

import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { type BatchResult, EMPTY_BATCH, joinBatches } from "./batch-result.ts";
import { simulationFolder } from "./folder.ts";
import type { Trouble } from "./troubles/troubles.ts";

export interface FleetOptions {
  /** The first seed. */
  readonly seed: number;
  readonly runs: number;
  readonly workers?: number;
  /** Every seed has exactly these troubles. */
  readonly troubles?: readonly Trouble[];
  /** Called after every batch. */
  readonly onProgress?: (soFar: BatchResult) => void;
  /** Start no more batches after a failure. */
  readonly stopAtFailure?: boolean;
}

/** The data that a thread gets at its start. */
export interface WorkerOrders {
  readonly folder: string;
  readonly troubles?: readonly Trouble[];
  /** Errors have stack traces. They are slow to make, and only useful if a seed failed. */
  readonly traced: boolean;
}

/** The folder of compiled sources: with it a thread starts half a second earlier. */
const COMPILED = fileURLToPath(new URL("../../node_modules/.cache/simulation", import.meta.url));

/** Small, so that no thread waits long at the end. */
const BATCH = 20;

export async function runFleet(options: FleetOptions): Promise<BatchResult> {
  const { seed, runs, workers = availableParallelism() } = options;
  const given = options.troubles === undefined ? {} : { troubles: options.troubles };
  let next = seed;
  let result = EMPTY_BATCH;

  function take(): number[] {
    if (options.stopAtFailure === true && result.failures.length > 0) return [];
    const count = Math.min(BATCH, seed + runs - next);
    const seeds = Array.from({ length: Math.max(0, count) }, (_, index) => next + index);
    next += seeds.length;
    return seeds;
  }

  async function work(number: number): Promise<void> {
    const workerData: WorkerOrders = { folder: join(folder, String(number)), traced: runs === 1, ...given };
    const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED };
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData, env });
    try {
      for (let seeds = take(); seeds.length > 0; seeds = take()) {
        const done = await ask(worker, seeds);
        result = joinBatches(result, done);
        options.onProgress?.(result);
      }
    } finally {
      await worker.terminate();
    }
  }

  const folder = simulationFolder();
  const threads = Math.max(1, Math.min(workers, Math.ceil(runs / BATCH)));
  try {
    await Promise.all(Array.from({ length: threads }, (_, number) => work(number)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return result;
}

function ask(worker: Worker, seeds: readonly number[]): Promise<BatchResult> {
  return new Promise((resolve, reject) => {
    worker.once("error", reject);
    worker.once("message", (result: BatchResult) => {
      worker.off("error", reject);
      resolve(result);
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(seeds);
  });
}
