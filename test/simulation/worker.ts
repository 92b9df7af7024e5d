/** A thread of the fleet: runs the seeds that it gets, all at one place, and returns their results. */

import { mkdirSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { runSeeds } from "./batch.ts";
import type { WorkerOrders } from "./fleet.ts";
import { openPlace } from "./place.ts";

const { folder, traced, troubles } = workerData as WorkerOrders;
if (!traced) Error.stackTraceLimit = 0;
mkdirSync(folder);
const place = await openPlace(folder);

parentPort?.on("message", (seeds: readonly number[]) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  void runSeeds(seeds, place, troubles).then((result) => parentPort?.postMessage(result));
});
