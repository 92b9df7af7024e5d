/**
 * The loop of kills: a process with several conversations in one store is killed at a random moment, restarted, killed
 * again. The work never runs out, because each life is given more of it. In the end one life is left alone, and the
 * store is judged.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "../simulation/random.ts";
import { type Evidence, evidenceOf, recordOf } from "./evidence.ts";
import { judgeCrashed } from "./judge-crashed.ts";
import { type Finding, judgeStore } from "./judge.ts";
import { finish, livesOf, type Site, start, untilAtWork } from "./processes.ts";

export interface KillLoop {
  readonly kills: number;
  /** Kills after the store had been opened: the others hit a process that was starting. */
  readonly atWork: number;
  /** Of those, kills that left something to take up again. */
  readonly recovered: number;
  readonly conversations: number;
  readonly posts: number;
  readonly deliveries: number;
  readonly repeated: number;
  readonly findings: readonly Finding[];
}

const PAUSE_MS = 30;
/** Time that a process needs to come to life on an idle machine, and what it is then given to work. */
const STARTUP_MS = 180;
const WORK_MS = 260;

export async function killLoop(site: Site, kills: number, seed: number): Promise<KillLoop> {
  const random = createRandom(seed);
  let conversations = 0;
  let atWork = 0;
  const findings: Finding[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    conversations += random.below(3);
    if (kill === 0) conversations = 2;
    const before = livesOf(site);
    const { process, exit } = start(site, { conversations, pauseMs: PAUSE_MS });
    // One in five hits the start itself; the others wait for it, so that a slow machine does not spare the work.
    if (random.below(5) === 0) await sleep(random.below(STARTUP_MS));
    else {
      await untilAtWork(site, before + 1, exit);
      await sleep(random.below(WORK_MS));
    }
    process.kill("SIGKILL");
    const { code, signal } = await exit;
    if (signal !== "SIGKILL" && code !== 0) throw new Error(`life ${kill} ended by itself with ${code}`);
    if (livesOf(site) > before) atWork += 1;
    findings.push(...(await judgeCrashed(site, evidenceOf(site))));
  }
  await finish(site, { conversations });
  const evidence = evidenceOf(site);
  const lines = recordOf(site.record);
  return {
    kills,
    atWork,
    recovered: lines.filter((line) => Number(line["recovered"] ?? 0) > 0).length,
    conversations,
    posts: new Set(evidence.posted.map((post) => post.id)).size,
    deliveries: evidence.delivered.length,
    repeated: repeatedIn(evidence),
    findings: [...findings, ...(await judgeStore(site.store, evidence))],
  };
}

function repeatedIn(evidence: Evidence): number {
  return evidence.delivered.length - new Set(evidence.delivered.map((message) => message.id)).size;
}
