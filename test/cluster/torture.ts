/**
 * `npm run torture:cluster -- [--rounds N] [--trees N] [--folder F] [--record]`: the long run against workers. Rounds
 * (kills, pauses, terminations) go in stretches, each with a database, a seed and conversations of its own, and one
 * restart of the server.
 *
 * Invariants:
 *  1. What is done stands in `state.json` of the folder, written whole; the same command goes on from there. Another
 *     folder begins anew.
 *  2. A stretch that found something keeps its folder, is not counted as done, and makes the exit code 1.
 *  3. `--record` writes the figures into docs/reliability.md, between its marks.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { createCluster, SUPERUSER } from "../support/postgres/cluster.ts";
import { chaos, type ChaosResult } from "./chaos.ts";
import { commandOptions } from "../support/command-options.ts";

interface State {
  /** Seeds of stretches that are done, and what they added up to. */
  readonly stretches: number[];
  rounds: number;
  kills: number;
  pauses: number;
  terminations: number;
  restarts: number;
  trees: number;
  taken: number;
  seconds: number;
  readonly findings: { readonly where: string; readonly what: string }[];
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DOCUMENT = join(ROOT, "docs", "reliability.md");
const ROUNDS_A_STRETCH = 25;
const WORKERS = 3;

const values = commandOptions(
  {
    name: "npm run torture:cluster --",
    does: "Disturbs three workers of a PostgreSQL database. Goes on from where it was stopped.",
    examples: ["--record", "--rounds 50 --trees 20 --folder /tmp/torture-cluster"],
  },
  {
    rounds: { kind: "count", help: "How often they are disturbed.", default: 500 },
    trees: { kind: "count", help: "Conversations of a stretch of 25 rounds.", default: 100 },
    folder: {
      kind: "text",
      help: "Where its state stands.",
      default: join(ROOT, "node_modules", ".cache", "errand-torture-cluster"),
    },
    record: { kind: "flag", help: "Writes the figures into docs/reliability.md." },
  },
);
const folder = resolve(values.folder);
const stateFile = join(folder, "state.json");
mkdirSync(folder, { recursive: true });
const NOTHING: State = {
  stretches: [],
  rounds: 0,
  kills: 0,
  pauses: 0,
  terminations: 0,
  restarts: 0,
  trees: 0,
  taken: 0,
  seconds: 0,
  findings: [],
};
const state = existsSync(stateFile) ? (JSON.parse(readFileSync(stateFile, "utf8")) as State) : NOTHING;

function keep(): void {
  writeFileSync(`${stateFile}.new`, `${JSON.stringify(state, null, 2)}\n`);
  renameSync(`${stateFile}.new`, stateFile);
}

async function disturb(seed: number, place: string): Promise<ChaosResult> {
  const cluster = await createCluster({ fsync: false });
  const server = `postgres://${SUPERUSER}@127.0.0.1:${cluster.port}`;
  try {
    const client = new Client({ connectionString: `${server}/postgres` });
    await client.connect();
    await client.query("create database torture");
    await client.end();
    return await chaos({
      url: `${server}/torture`,
      async restart() {
        await cluster.stop(seed % 2 === 0 ? "fast" : "immediate");
        await cluster.start();
      },
      folder: place,
      workers: WORKERS,
      trees: values.trees,
      rounds: ROUNDS_A_STRETCH,
      seed,
    });
  } finally {
    await cluster.remove();
  }
}

async function stretch(seed: number): Promise<void> {
  const place = join(folder, `stretch-${seed}`);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place);
  try {
    const { findings, ...counts } = await disturb(seed, place);
    for (const { kind, what } of findings) state.findings.push({ where: place, what: `${kind}: ${what}` });
    for (const name of ["kills", "pauses", "terminations", "restarts", "trees", "taken", "seconds"] as const)
      state[name] += counts[name];
    state.rounds += counts.kills + counts.pauses + counts.terminations;
    state.stretches.push(seed);
    if (findings.length === 0) rmSync(place, { recursive: true });
  } catch (error) {
    state.findings.push({ where: place, what: String(error) });
  }
  keep();
  process.stderr.write(
    `rounds ${state.rounds}/${values.rounds}, ${state.trees} conversations, ${state.findings.length} findings\n`,
  );
}

function record(day: string): void {
  const rows = [
    ["day", day],
    ["rounds against 3 workers", String(state.rounds)],
    ["kills, pauses, terminations", `${state.kills}, ${state.pauses}, ${state.terminations}`],
    ["restarts of the database", String(state.restarts)],
    ["conversations carried to their end", String(state.trees)],
    ["trees that a paused worker found taken over", String(state.taken)],
    ["lost, duplicated or contradicted", String(state.findings.length)],
    ["minutes", (state.seconds / 60).toFixed(0)],
  ];
  const table = ["| figure | value |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)];
  const text = readFileSync(DOCUMENT, "utf8");
  const marks = /(<!-- cluster -->\n)[^]*?(\n<!-- \/cluster -->)/;
  if (!marks.test(text)) throw new Error("docs/reliability.md has no place for the figures");
  writeFileSync(
    DOCUMENT,
    text.replace(marks, (_, open: string, close: string) => open + table.join("\n") + close),
  );
}

for (let seed = 1; state.rounds < values.rounds; seed += 1) {
  if (state.stretches.includes(seed)) continue;
  await stretch(seed);
  if (state.findings.length > 0) break;
}
process.stdout.write(`${JSON.stringify({ ...state, stretches: state.stretches.length }, null, 2)}\n`);
if (values.record) record(new Date().toISOString().slice(0, 10));
// A stretch that failed half way may have left connections open.
process.exit(state.findings.length === 0 ? 0 : 1);
