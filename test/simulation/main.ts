/** `npm run simulate`: runs seeds, prints the counters, and exits with 1 on a failure. */

import { commandOptions } from "../support/command-options.ts";
import type { BatchResult } from "./batch-result.ts";
import { runFleet } from "./fleet.ts";
import { SOMETIMES } from "./sometimes.ts";
import { TROUBLES } from "./troubles/troubles.ts";

const { seed, runs, workers, trouble, json } = commandOptions(
  {
    name: "npm run simulate --",
    does: "Runs whole conversations under faults, each decided by its seed, and checks what must hold.",
    examples: ["--seed 706836 --runs 1", "--runs 20000 --json"],
  },
  {
    seed: { kind: "count", help: "The first seed.", default: 1 },
    runs: { kind: "count", help: "How many seeds.", default: 2_000 },
    workers: { kind: "count", help: "Processes at a time. Default: one for each core." },
    trouble: { kind: "many", help: `Every seed has just this trouble, one of: ${TROUBLES.join(", ")}.` },
    json: { kind: "flag", help: "The result as one line of JSON." },
  },
);
const troubles = TROUBLES.filter((kind) => trouble.includes(kind));
const unknown = trouble.find((name) => !troubles.some((kind) => kind === name));
if (unknown !== undefined) {
  process.stderr.write(`errand: --trouble knows no "${unknown}".\nAll options: npm run simulate -- --help\n`);
  process.exit(2);
}
const began = performance.now();
let told = began;

const result = await runFleet({
  seed,
  runs,
  ...(workers === undefined ? {} : { workers }),
  ...(troubles.length === 0 ? {} : { troubles }),
  stopAtFailure: true,
  onProgress,
});
if (json) {
  write(JSON.stringify({ seed, runs, seconds: seconds(), seedsPerSecond: perSecond(result), ...result }));
} else {
  summary(result);
}
process.exitCode = result.failures.length > 0 ? 1 : 0;

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

function seconds(): number {
  return (performance.now() - began) / 1_000;
}

function perSecond({ seeds }: BatchResult): number {
  return Math.round(seeds / seconds());
}

/** One line per second on standard error, apart from the result. */
function onProgress(soFar: BatchResult): void {
  if (performance.now() - told < 1_000) return;
  told = performance.now();
  process.stderr.write(
    `${soFar.seeds}/${runs} seeds, ${perSecond(soFar)} seeds/s, ${soFar.commits} commits, ` +
      `${soFar.failures.length} failures\n`,
  );
}

function summary({ seeds, commits, rows, lives, matched, alike, failures, counts }: BatchResult): void {
  for (const name of SOMETIMES) write(`${String(counts[name] ?? 0).padStart(9)}  ${name}`);
  const never = SOMETIMES.filter((name) => (counts[name] ?? 0) === 0);
  if (never.length > 0) write(`never reached: ${never.join(", ")}`);
  write(
    `${seeds} seeds in ${seconds().toFixed(1)} s (${Math.round(seeds / seconds())} seeds/s), ${commits} commits, ` +
      `${rows} rows, ${lives} lives, ${matched} ran twice and matched, ${alike} ran in memory as well and matched`,
  );
  for (const { seed: failed, message } of failures) {
    write(`seed ${failed} failed: ${message.slice(0, 2_000)}`);
    write(
      `again: npm run simulate -- --seed ${failed} --runs 1${troubles.map((kind) => ` --trouble ${kind}`).join("")}`,
    );
  }
  write(failures.length === 0 ? "every invariant held" : `${failures.length} seeds failed`);
}
