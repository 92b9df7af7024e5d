/**
 * One task under a key, killed at every commit and inside its tool. Started again it gives one result, each payment was
 * made once, and no model was left with an unknown outcome.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { recordOf } from "./evidence.ts";
import { ACCOUNT, PAYMENTS, paymentsIn, REWRITTEN } from "./keyed-run.ts";
import { run, scratchFolder, type Site, siteIn, type SiteOptions, twoAtATime } from "./processes.ts";

const scratch = scratchFolder();
afterAll(scratch.remove);

const TIMEOUT_MS = 600_000;

function newSite(name: string): Site {
  const folder = join(scratch.path, name);
  mkdirSync(folder);
  return siteIn(folder);
}

const keyed = (site: Site, more: SiteOptions = {}) => run(site, { mode: "keyed-run", ...more });

/** Starts it again twice: to its end, and once more. Says what is wrong. */
async function judge(site: Site): Promise<void> {
  for (let again = 0; again < 2; again += 1) expect(await keyed(site), site.folder).toEqual({ code: 0, signal: null });
  const lines = recordOf(site.record);
  const results = lines.filter((line) => "result" in line);
  expect(new Set(results.map((line) => JSON.stringify(line))).size, "different results of one key").toBe(1);
  expect(results[0]).toMatchObject({ result: "All is paid.", runs: [`${REWRITTEN} ok`] });
  expect(lines.findLast((line) => "trees" in line)).toEqual({ trees: 1, difference: null });
  const payments = paymentsIn(site.toolFile);
  expect(payments.map(({ account }) => account)).toEqual(Array.from({ length: PAYMENTS }, () => ACCOUNT));
  expect(new Set(payments.map(({ callId }) => callId)).size).toBe(PAYMENTS);
}

test(
  "killed before and after every commit",
  async () => {
    for (const when of ["before", "after"] as const) {
      let points = 0;
      await twoAtATime(async (index) => {
        const site = newSite(`${when}-${index + 1}`);
        const { code, signal } = await keyed(site, { kill: { when, commit: index + 1 } });
        if (code === 0) return false;
        expect(signal).toBe("SIGKILL");
        points += 1;
        await judge(site);
        return true;
      });
      expect(points).toBeGreaterThan(5);
    }
  },
  TIMEOUT_MS,
);

test.each([
  ["before", 1, false],
  ["after", 1, true],
  ["before", 2, false],
  ["after", 2, true],
] as const)(
  "killed inside the tool, %s it has acted, in call %i: it is asked what became of the call",
  async (when, call, happened) => {
    const site = newSite(`tool-${when}-${call}`);
    expect((await keyed(site, { killTool: { when, call } })).signal).toBe("SIGKILL");
    await judge(site);
    const recovered = recordOf(site.record).filter((line) => "happened" in line);
    expect(recovered).toEqual([expect.objectContaining({ happened })]);
  },
  TIMEOUT_MS,
);

test("killed when all is done: the result is there without another call", async () => {
  const site = newSite("done");
  expect((await keyed(site, { kill: { when: "done" } })).signal).toBe("SIGKILL");
  await judge(site);
  expect(recordOf(site.record).filter((line) => "paid" in line)).toHaveLength(PAYMENTS);
});
