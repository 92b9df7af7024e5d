/**
 * `npm run torture`: the long run. Kills go in stretches, each with a store and a seed of its own; simulated seeds go
 * in chunks through the simulator's own command.
 *
 * Invariants:
 *  1. What is done stands in `state.json` of the folder, written whole; the same command goes on from there. Another
 *     folder begins anew.
 *  2. A stretch or chunk that found something is kept (the store too), is not counted as done, and makes the exit code
 *     1.
 *  3. `--record` writes the figures into docs/reliability.md, between its marks.
 */

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { killLoop } from "./kill-loop.ts";
import { commandOptions } from "../support/command-options.ts";
import { siteIn } from "./processes.ts";

interface State {
  /** Seeds of stretches that are done, and what they added up to. */
  readonly stretches: number[];
  kills: number;
  atWork: number;
  recovered: number;
  conversations: number;
  repeated: number;
  killSeconds: number;
  simulated: number;
  simulationSeconds: number;
  readonly findings: { readonly where: string; readonly what: string }[];
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const KILLS_A_STRETCH = 50;
const SEEDS_A_CHUNK = 5_000;
const DOCUMENT = join(ROOT, "docs", "reliability.md");

const values = commandOptions(
  {
    name: "npm run torture --",
    does: "Kills processes at random moments and simulates seeds. Goes on from where it was stopped.",
    examples: ["--record", "--kills 500 --seeds 20000 --folder /tmp/torture"],
  },
  {
    kills: { kind: "count", help: "How often a process is killed.", default: 5_000 },
    seeds: { kind: "count", help: "How many seeds are simulated.", default: 200_000 },
    lanes: { kind: "count", help: "How many at a time.", default: Math.min(2, availableParallelism()) },
    folder: {
      kind: "text",
      help: "Where its state stands.",
      default: join(ROOT, "node_modules", ".cache", "errand-torture"),
    },
    record: { kind: "flag", help: "Writes the figures into docs/reliability.md." },
  },
);
const folder = resolve(values.folder);
const stateFile = join(folder, "state.json");
mkdirSync(folder, { recursive: true });
const state: State = existsSync(stateFile)
  ? (JSON.parse(readFileSync(stateFile, "utf8")) as State)
  : {
      stretches: [],
      kills: 0,
      atWork: 0,
      recovered: 0,
      conversations: 0,
      repeated: 0,
      killSeconds: 0,
      simulated: 0,
      simulationSeconds: 0,
      findings: [],
    };

function keep(): void {
  writeFileSync(`${stateFile}.new`, `${JSON.stringify(state, null, 2)}\n`);
  renameSync(`${stateFile}.new`, stateFile);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function stretch(seed: number): Promise<void> {
  const place = join(folder, `stretch-${seed}`);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place);
  const began = performance.now();
  try {
    const loop = await killLoop(siteIn(place), KILLS_A_STRETCH, seed);
    state.killSeconds += (performance.now() - began) / 1_000;
    for (const { kind, what } of loop.findings) state.findings.push({ where: place, what: `${kind}: ${what}` });
    state.kills += loop.kills;
    state.atWork += loop.atWork;
    state.recovered += loop.recovered;
    state.conversations += loop.conversations;
    state.repeated += loop.repeated;
    state.stretches.push(seed);
    if (loop.findings.length === 0) rmSync(place, { recursive: true });
  } catch (error) {
    state.findings.push({ where: place, what: String(error) });
  }
  keep();
  say(`kills ${state.kills}/${values.kills}, ${state.conversations} conversations, ${state.findings.length} findings`);
}

async function killAll(kills: number): Promise<void> {
  const seeds = Array.from({ length: Math.ceil(kills / KILLS_A_STRETCH) }, (_, index) => index + 1);
  const left = seeds.filter((seed) => !state.stretches.includes(seed));
  const lane = async (): Promise<void> => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) await stretch(seed);
  };
  await Promise.all(Array.from({ length: values.lanes }, lane));
}

/** The simulator's result for a chunk of seeds, and whether it ended well. */
function simulate(seed: number, runs: number): Promise<{ readonly well: boolean; readonly output: string }> {
  const args = [join(ROOT, "scripts", "simulate.mjs"), "--seed", String(seed), "--runs", String(runs)];
  const child = spawn(process.execPath, [...args, "--workers", String(values.lanes), "--json"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
  return new Promise((done, reject) => {
    child.on("error", reject);
    child.on("close", (code) => done({ well: code === 0, output }));
  });
}

async function simulateAll(seeds: number): Promise<void> {
  while (state.simulated < seeds) {
    const runs = Math.min(SEEDS_A_CHUNK, seeds - state.simulated);
    const began = performance.now();
    const { well, output } = await simulate(state.simulated + 1, runs);
    if (!well) {
      state.findings.push({ where: `seeds from ${state.simulated + 1}`, what: output.slice(0, 4_000) });
      return keep();
    }
    state.simulated += runs;
    state.simulationSeconds += (performance.now() - began) / 1_000;
    keep();
    say(`seeds ${state.simulated}/${seeds}, ${Math.round(state.simulated / state.simulationSeconds)} seeds/s`);
  }
}

function record(day: string): void {
  const rows = [
    ["day", day],
    ["kills at random moments", String(state.kills)],
    ["of them while at work", String(state.atWork)],
    ["restarts that found work under way", String(state.recovered)],
    ["conversations carried to their end", String(state.conversations)],
    ["messages to the user sent again, under the same id", String(state.repeated)],
    ["simulated seeds", String(state.simulated)],
    ["lost, duplicated or contradicted", String(state.findings.length)],
    ["hours", ((state.killSeconds / values.lanes + state.simulationSeconds) / 3_600).toFixed(1)],
  ];
  const table = ["| figure | value |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join(
    "\n",
  );
  const text = readFileSync(DOCUMENT, "utf8");
  const marks = /(<!-- torture -->\n)[^]*?(\n<!-- \/torture -->)/;
  if (!marks.test(text)) throw new Error("docs/reliability.md has no place for the figures");
  writeFileSync(
    DOCUMENT,
    text.replace(marks, (_, open: string, close: string) => open + table + close),
  );
}

await killAll(values.kills);
await simulateAll(values.seeds);
process.stdout.write(`${JSON.stringify({ ...state, stretches: state.stretches.length }, null, 2)}\n`);
if (values.record) record(new Date().toISOString().slice(0, 10));
process.exitCode = state.findings.length === 0 ? 0 : 1;
