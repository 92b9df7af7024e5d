/**
 * `errand demo`: what its words mean. With `--json` a line is a step (`process-started`, `spawned`, `ended`,
 * `process-killed`, `calls-repeated`, `nudged`, `told`, with the fields of demo/step.ts and `elapsedMs`), then `answer
 * { text }`, and last `proof { killedAt, spawned, ended, toldOnce, rows, verdict, problems, ok }`.
 */

import { existsSync } from "node:fs";
import { ErrandError } from "../../../errors.ts";
import { postgresUrlIs, storeName } from "../../../stores/store-url.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { createDemoScreen } from "../demo/demo-screen.ts";
import { playDemo } from "../demo/play-demo.ts";
import { openDemoProcesses } from "../demo/demo-processes.ts";
import { EXIT, type ExitCode, signalExit } from "../../exit-code.ts";
import type { Host } from "../../host.ts";
import { DEMO_TASK, OFFLINE_PACED } from "../../rehearsal/rehearsal-provider.ts";
import { type Stop, watchStops } from "../../running/stops.ts";
import { requireFile } from "../../store/open-view.ts";
import { elapsedLabel } from "../../../view/amounts.ts";

/** Many times what it takes. */
const LONGEST_MS = 120_000;

export const demoCommand: CommandAction = async (call) => {
  const { options, host } = call;
  const kept = keptStore(call);
  const screen = createDemoScreen(host, options.json === true);
  const stops = watchStops(host, LONGEST_MS);
  const processes = openDemoProcesses(host);
  const leaving = new AbortController();
  const store = kept ?? processes.store;
  const played = playDemo({
    task: DEMO_TASK,
    model: OFFLINE_PACED,
    store,
    processes,
    screen,
    world: host.world,
    signal: leaving.signal,
  });
  try {
    const how = await Promise.race([played, stops.first]);
    if ("type" in how) {
      leaving.abort();
      await played.catch(() => undefined);
      screen.close();
      return left(how, kept, host);
    }
    if (how.problems.length === 0) return EXIT.done;
    processes.keep();
    throw new ErrandError("demo-failed", `The promise was not kept: ${how.problems.join(", ")}`, {
      remedy: `This is a bug in Errand. The journal is kept for a report: ${store}`,
    });
  } finally {
    screen.close();
    await processes.close();
    stops.close();
  }
};

/** The store that was named, which stays; null for one that goes with the demonstration. */
function keptStore({ options: { store } }: CommandCall): string | null {
  if (store === undefined) return null;
  requireFile(store);
  if (!postgresUrlIs(store) && !existsSync(store)) return store;
  throw new ErrandError("usage", "The demonstration needs a store of its own", {
    remedy: "Name a file that is not there yet: --store PATH; or leave --store out.",
  });
}

function left(stop: Stop, kept: string | null, host: Host): ExitCode {
  switch (stop.type) {
    case "signal":
      host.err(`left before the end; ${kept === null ? "nothing is kept" : `kept: ${storeName(kept)}`}\n`);
      return signalExit(stop.signal);
    case "timeout":
      throw new ErrandError("demo-failed", `The job did not end within ${elapsedLabel(LONGEST_MS)}`, {
        remedy: "Try it again when this machine has less to do.",
      });
    case "failure":
      throw stop.error;
  }
}
