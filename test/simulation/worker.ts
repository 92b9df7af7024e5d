/** A thread of the fleet: runs the seeds it is sent, and sends back what came of them. */

import { parentPort } from "node:worker_threads";
import { runSeeds } from "./batch.ts";

parentPort?.on("message", (seeds: readonly number[]) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  void runSeeds(seeds).then((result) => parentPort?.postMessage(result));
});
