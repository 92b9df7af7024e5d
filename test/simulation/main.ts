/** `npm run simulate -- --seed N --runs M [--workers W] [--json]`: runs seeds, says what was reached, and ends with 1 on a failure. */

import { parseArgs } from "node:util";
import type { BatchResult } from "./batch-result.ts";
import { runFleet } from "./fleet.ts";
import { SOMETIMES } from "./sometimes.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "2000" },
    workers: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

const seed = whole("seed", values.seed);
const runs = whole("runs", values.runs);
const workers = values.workers === undefined ? {} : { workers: whole("workers", values.workers) };
const began = performance.now();
let told = began;

const result = await runFleet({ seed, runs, ...workers, stopAtFailure: true, onProgress });
if (values.json) {
  write(JSON.stringify({ seed, runs, seconds: seconds(), seedsPerSecond: perSecond(result), ...result }));
} else {
  summary(result);
}
process.exitCode = result.failures.length > 0 ? 1 : 0;

function whole(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  process.stderr.write(`errand: --${name} takes a whole number, not "${text}"\n`);
  process.exit(2);
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

function seconds(): number {
  return (performance.now() - began) / 1_000;
}

function perSecond({ seeds }: BatchResult): number {
  return Math.round(seeds / seconds());
}

/** A line a second, to where it does not mix with the result. */
function onProgress(soFar: BatchResult): void {
  if (performance.now() - told < 1_000) return;
  told = performance.now();
  process.stderr.write(
    `${soFar.seeds}/${runs} seeds, ${perSecond(soFar)} seeds/s, ${soFar.commits} commits, ${soFar.failures.length} failures\n`,
  );
}

function summary({ seeds, commits, rows, lives, matched, alike, failures, counts }: BatchResult): void {
  for (const name of SOMETIMES) write(`${String(counts[name] ?? 0).padStart(9)}  ${name}`);
  const never = SOMETIMES.filter((name) => (counts[name] ?? 0) === 0);
  if (never.length > 0) write(`never reached: ${never.join(", ")}`);
  write(
    `${seeds} seeds in ${seconds().toFixed(1)} s (${Math.round(seeds / seconds())} seeds/s), ${commits} commits, ${rows} rows, ` +
      `${lives} lives, ${matched} ran twice and matched, ${alike} ran in memory as well and matched`,
  );
  for (const { seed: failed, message } of failures) {
    write(`seed ${failed} failed: ${message.slice(0, 2_000)}`);
    write(`again: npm run simulate -- --seed ${failed} --runs 1`);
  }
  write(failures.length === 0 ? "every invariant held" : `${failures.length} seeds failed`);
}
