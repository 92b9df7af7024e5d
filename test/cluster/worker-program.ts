/**
 * A worker that tests kill, pause and cut off: runs reference conversations of a database until it is terminated.
 *
 * `worker-program.ts OPTIONS` with OPTIONS as JSON. What it has to say is on its standard output, a JSON object a line.
 */

import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createErrand, type ErrandError } from "../../src/index.ts";
import { DEFINITIONS, type Pause, referenceModels, referenceTools } from "../crash/reference.ts";

export interface WorkerProgram {
  readonly url: string;
  readonly toolFile: string;
  /** Up to so many milliseconds for every model and tool call. */
  readonly pauseMs: number;
}

const { url, toolFile, pauseMs } = JSON.parse(process.argv[2] ?? "{}") as WorkerProgram;

function tell(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

function say(kind: string): (error: ErrandError) => void {
  return ({ code, message }) => tell({ [kind]: code, message });
}

const pause: Pause = () => sleep(Math.random() * pauseMs);
const errand = await createErrand({
  store: url,
  models: [referenceModels(pause)],
  tools: referenceTools(toolFile, pause, () => undefined),
  agents: DEFINITIONS,
  onNotice: say("notice"),
  onFailure: say("failure"),
});
process.on("SIGTERM", () => void errand.close({ withinMs: 0 }).then(() => process.exit(0)));
tell({ started: process.pid });
