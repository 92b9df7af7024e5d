/**
 * Chaos: several workers run many conversations while they are killed, paused and terminated at random moments, and
 * the database restarts.
 * In the end the database is judged: nothing lost, doubled or contradicted.
 */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { linesOf } from "../crash/evidence.ts";
import { type Finding, judgeStore } from "../crash/judge.ts";
import { createRandom } from "../simulation/random.ts";
import { createTalks } from "./talks.ts";
import { startWorker, type Worker } from "./workers.ts";

export interface ChaosPlan {
  readonly url: string;
  /** Stops the database and starts it again. */
  readonly restart: () => Promise<void>;
  readonly folder: string;
  readonly workers: number;
  readonly trees: number;
  /** Disturbances: kills, pauses and terminations; half way there is one restart of the database. */
  readonly rounds: number;
  readonly seed: number;
}

export interface ChaosResult {
  readonly kills: number;
  readonly pauses: number;
  readonly terminations: number;
  readonly restarts: number;
  readonly trees: number;
  /** Trees that a paused worker found to be taken over. */
  readonly taken: number;
  readonly seconds: number;
  readonly findings: readonly Finding[];
}

/** Time between two disturbances, and the longest pause: some are shorter than the lease, some longer. */
const BETWEEN_MS = 2_500;
const LONGEST_PAUSE_MS = 14_000;
const CALL_MS = 300;
const END_WITHIN_MS = 120_000;

export async function chaos(plan: ChaosPlan): Promise<ChaosResult> {
  const { url, folder, rounds } = plan;
  const random = createRandom(plan.seed);
  const began = performance.now();
  const toolFile = join(folder, "tool.log");
  const counts = { kills: 0, pauses: 0, terminations: 0, restarts: 0 };
  const ended: Worker[] = [];
  const findings: Finding[] = [];
  let names = 0;
  const start = (): Promise<Worker> => {
    names += 1;
    return startWorker(folder, `worker-${names}`, { url, toolFile, pauseMs: CALL_MS });
  };
  const talks = await createTalks(url, toolFile, plan.trees);
  const workers = await Promise.all(Array.from({ length: plan.workers }, start));
  const paused = new Set<Promise<void>>();

  async function end(worker: Worker, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    worker.kill(signal);
    const how = await worker.gone;
    if (how !== (signal === "SIGKILL" ? signal : 0))
      findings.push({ kind: "contradicted", what: `a worker ended with ${how}` });
    ended.push(worker);
    workers.push(await start());
  }

  async function pause(worker: Worker, forMs: number): Promise<void> {
    worker.kill("SIGSTOP");
    await sleep(forMs);
    worker.kill("SIGCONT");
    workers.push(worker);
  }

  async function disturb(): Promise<void> {
    const [worker] = workers.splice(random.below(workers.length), 1);
    if (worker === undefined) return;
    const what = random.below(10);
    if (what < 5) {
      counts.kills += 1;
      await end(worker, "SIGKILL");
    } else if (what < 6) {
      counts.terminations += 1;
      await end(worker, "SIGTERM");
    } else {
      counts.pauses += 1;
      const going = pause(worker, random.below(LONGEST_PAUSE_MS));
      paused.add(going);
      void going.then(() => paused.delete(going));
    }
  }

  const held = talks.hold(rounds * BETWEEN_MS, () => random.below(1_000) / 1_000);
  held.catch(() => undefined);
  for (let round = 0; round < rounds; round += 1) {
    await sleep(random.below(2 * BETWEEN_MS));
    if (round === Math.floor(rounds / 2)) {
      counts.restarts += 1;
      await plan.restart();
    }
    await disturb();
  }
  await Promise.all(paused);
  findings.push(...(await endOf(held, talks.ended, plan.trees)));
  await talks.close();
  for (const worker of workers) worker.kill("SIGTERM");
  await Promise.all(workers.map((worker) => worker.gone));
  const lines = [...ended, ...workers].flatMap((worker) => worker.said());
  for (const line of lines) {
    if ("failure" in line) findings.push({ kind: "contradicted", what: `a worker failed: ${JSON.stringify(line)}` });
  }
  if (findings.length === 0) findings.push(...(await judgeStore(url, talks.evidence(linesOf(toolFile)))));
  const taken = lines.filter((line) => line["notice"] === "tree-taken").length;
  return { ...counts, trees: plan.trees, taken, seconds: Math.round((performance.now() - began) / 1_000), findings };
}

async function endOf(held: Promise<void>, ended: () => number, trees: number): Promise<Finding[]> {
  const late = Symbol("late");
  const how = await Promise.race([held, sleep(END_WITHIN_MS, late, { ref: false })]);
  return how === late ? [{ kind: "lost", what: `${trees - ended()} conversations did not come to their end` }] : [];
}
