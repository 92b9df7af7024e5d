/**
 * Every crash point of the reference scenario. The process is killed on the way into each system call that changes a
 * file of the store or one outside: the first, the second, and so on until it is no longer killed because it has none
 * left. After each, a new process goes on.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crashTools } from "../../scripts/crash-tools.mjs";
import { evidenceOf } from "./evidence.ts";
import { judgeCrashed } from "./judge-crashed.ts";
import { type Finding, judgeStore } from "./judge.ts";
import { type Exit, finishAll, run, scratchFolder, type Site, siteIn, twoAtATime } from "./processes.ts";
import { tracedWith } from "./tracer.ts";

/** Writes of the store; of files outside, by the tool and the channel; and all that orders or ends them. */
const SYSTEM_CALLS = ["pwrite64", "writev", "fsync,fdatasync", "ftruncate", "unlink,rename,renameat2"] as const;
const RESTARTS_AT_ONCE = 40;
const TIMEOUT_MS = 600_000;

const scratch = scratchFolder();
const tools = crashTools();

beforeAll(async () => {
  // Fills the cache of compiled sources, so that all that follow start alike.
  expect(await run(newSite("warm")), "the scenario runs to its end").toEqual({ code: 0, signal: null });
});
afterAll(scratch.remove);

function newSite(name: string): Site {
  const folder = join(scratch.path, name);
  mkdirSync(folder);
  return siteIn(folder);
}

/** Goes on with every store in new processes, and judges all of them. */
async function judgeAll(sites: readonly Site[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (let from = 0; from < sites.length; from += RESTARTS_AT_ONCE) {
    const some = sites.slice(from, from + RESTARTS_AT_ONCE);
    for (const site of some) findings.push(...(await judgeCrashed(site, evidenceOf(site))));
    await finishAll(some);
    for (const site of some) {
      const found = await judgeStore(site.store, evidenceOf(site));
      findings.push(...found.map((finding) => ({ ...finding, what: `${site.folder}: ${finding.what}` })));
    }
  }
  return findings;
}

/** Kills at point 1, 2, … until the program ends by itself. Returns the stores that were left. */
async function killEverywhere(kill: (number: number, site: Site) => Promise<Exit>, name: string): Promise<Site[]> {
  const left: Site[] = [];
  await twoAtATime(async (index) => {
    const site = newSite(`${name}-${index + 1}`);
    const { code, signal } = await kill(index + 1, site);
    if (code === 0) return false;
    // A tracer passes the death of what it traces on as its own.
    expect(signal === "SIGKILL" || code === 137, `${name} ${index + 1}: ${code ?? signal}`).toBe(true);
    left.push(site);
    return true;
  });
  return left;
}

test.runIf(tools.strace).each(SYSTEM_CALLS)(
  "killed at every %s of the reference scenario, nothing is lost, doubled or contradicted",
  async (calls) => {
    const name = calls.split(",")[0] ?? calls;
    const sites = await killEverywhere(
      (number, site) => run(site, {}, tracedWith(calls, number, { signal: "KILL" })),
      name,
    );
    expect(await judgeAll(sites)).toEqual([]);
    expect(sites.length, "points of this kind").toBeGreaterThan(2);
    process.stdout.write(`crash points: ${sites.length} of ${calls}\n`);
  },
  TIMEOUT_MS,
);

test(
  "killed before and after commits of the reference scenario, nothing is lost, doubled or contradicted",
  async () => {
    if (!tools.strace)
      process.stdout.write("\nNO STRACE HERE: crash points are every commit, not every system call.\n\n");
    for (const when of ["before", "after"] as const) {
      const kill = (number: number, site: Site): Promise<Exit> => run(site, { kill: { when, commit: number } });
      const sites = await killEverywhere(kill, when);
      expect(await judgeAll(sites)).toEqual([]);
      expect(sites.length).toBeGreaterThan(1);
      process.stdout.write(`crash points: ${sites.length} ${when} a commit\n`);
    }
  },
  TIMEOUT_MS,
);
