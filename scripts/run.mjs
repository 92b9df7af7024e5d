/**
 * `node scripts/run.mjs NAME [options]`: sets the project up and runs one of its commands from the sources. Stores that
 * the command makes are not registered as the user's.
 */
import { runSources } from "./run-sources.mjs";

/** @type {Readonly<Record<string, string>>} */
const FILES = {
  agents: "test/agents/run.ts",
  eval: "evals/run.ts",
  faults: "test/faults/main.ts",
  fuzz: "test/security/fuzz.ts",
  golden: "test/replay/write-golden.ts",
  live: "test/live/run.ts",
  record: "scripts/recording/record.ts",
  simulate: "test/simulation/main.ts",
  soak: "test/soak/main.ts",
  torture: "test/crash/torture.ts",
  "torture-cluster": "test/cluster/torture.ts",
};

const [name = "", ...args] = process.argv.slice(2);
const file = FILES[name];
if (file === undefined) {
  process.stderr.write(`errand: run.mjs takes one of ${Object.keys(FILES).join(", ")}, not "${name}".\n`);
  process.exitCode = 2;
} else runSources(file, args, { scratch: true });
