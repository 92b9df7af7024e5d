/**
 * `npm run bench -- --figures`: Errand's own figures. Each is measured in fresh processes, over a store that an earlier
 * process made.
 */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { measureApart } from "./rounds.ts";

const run = promisify(execFile);
const here = import.meta.dirname;

export interface FigureLine {
  readonly what: string;
  readonly measured: string;
  readonly toReach: string;
}

export async function figureLines(quick: boolean, rounds: number, say: (line: string) => void): Promise<FigureLine[]> {
  const folder = mkdtempSync(join(tmpdir(), "errand-figures-"));
  const lines: FigureLine[] = [];
  const add = (what: string, measured: string, toReach: string): void => {
    lines.push({ what, measured, toReach });
    say(`${what}: ${measured}`);
  };
  try {
    const thousand = await middle(rounds, () => fanOut(quick ? 100 : 1_000));
    const tenThousand = await middle(rounds, () => fanOut(quick ? 1_000 : 10_000));
    add(
      "W2, SQLite FULL, 10,000 children against 1,000",
      `${(tenThousand.value / thousand.value).toFixed(1)} × the time; ` +
        `${whole(thousand.peakMb)} and ${whole(tenThousand.peakMb)} MB peak`,
      "≤ 12 ×; ≤ 150 MB at 1,000",
    );
    const growth = await middle(rounds, () => growthOf(quick ? 500 : 10_000));
    add("W3, 10,000 delegations in one session, last tenth against first", `${growth.value.toFixed(2)} ×`, "≤ 1.3 ×");

    const agents = quick ? 1_000 : 100_000;
    const waiting = await prepared("waiting", folder, { agents });
    const empty = await waiting({ empty: true, durability: "full" });
    const full = await waiting({ durability: "full" });
    const relaxed = await waiting({ durability: "relaxed" });
    add(
      `${whole(agents)} waiting agents, above an empty process`,
      `${(number(full, "openMb") - number(empty, "openMb")).toFixed(1)} MB`,
      "≤ 100 MB",
    );
    for (const [name, measured] of [
      ["SQLite FULL", full],
      ["SQLite relaxed", relaxed],
    ] as const) {
      add(
        `waking one of them until its message is stored, ${name}, p50 and p99`,
        `${number(measured, "wakeP50").toFixed(1)} and ${number(measured, "wakeP99").toFixed(1)} ms`,
        "≤ 10 ms p99",
      );
    }

    const replay = await prepared("replay", folder, { delegations: quick ? 200 : 2_000 });
    const proven = await replay({});
    add(
      "replay, events per second of processor time: the first of a process, and once its code is warm",
      `${whole(number(proven, "first"))} and ${whole(number(proven, "eventsPerSecond"))}`,
      "≥ 100,000",
    );

    const restarts: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const restart = await prepared("restart", folder, { runs: 1_000 }, `restart-${round}`);
      restarts.push(number(await restart({}), "seconds"));
    }
    restarts.sort((a, b) => a - b);
    add(
      "restart with 1,000 open runs, until all are under way again",
      `${(restarts[Math.floor(rounds / 2)] ?? 0).toFixed(2)} s`,
      "≤ 2 s",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return lines;
}

type Output = Readonly<Record<string, unknown>>;

async function figure(name: string, phase: "prepare" | "measure", options: object): Promise<Output> {
  const args = ["--expose-gc", join(here, "figure.ts"), name, phase, JSON.stringify(options)];
  const { stdout } = await run(process.execPath, args, { cwd: here, maxBuffer: 16 * 1024 * 1024 });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}") as Output;
}

/** Makes the store of a figure, and returns the function that measures with it. */
async function prepared(
  name: string,
  folder: string,
  options: object,
  store = name,
): Promise<(more: object) => Promise<Output>> {
  const own = { folder: join(folder, store), ...options };
  mkdirSync(own.folder);
  try {
    await figure(name, "prepare", own);
  } catch (error) {
    // The process of the restart figure kills itself.
    if (!(error instanceof Error && "signal" in error && error.signal === "SIGKILL")) throw error;
  }
  return (more) => figure(name, "measure", { ...own, ...more });
}

function number(output: Output, name: string): number {
  const value = output[name];
  if (typeof value !== "number") throw new Error(`${name} was not measured`);
  return value;
}

const whole = (value: number): string => Math.round(value).toLocaleString("en-GB");

interface One {
  readonly value: number;
  readonly peakMb: number;
}

const fanOut = (size: number): Promise<One> =>
  measured({ contender: "errand", workload: "fan-out", storage: "full", size });
const growthOf = (size: number): Promise<One> =>
  measured({ contender: "errand", workload: "growth", storage: "memory", size });

async function measured(measurement: Parameters<typeof measureApart>[0]): Promise<One> {
  const outcome = await measureApart(measurement);
  if ("failed" in outcome) throw new Error(outcome.failed);
  return outcome;
}

async function middle(rounds: number, measure: () => Promise<One>): Promise<One> {
  const all: One[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await measure());
  all.sort((a, b) => a.value - b.value);
  return all[Math.floor(rounds / 2)] ?? { value: Number.NaN, peakMb: Number.NaN };
}
