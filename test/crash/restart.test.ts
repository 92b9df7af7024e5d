import { afterAll, expect, test } from "vitest";
import { recordOf } from "./evidence.ts";
import { run, scratchFolder, siteIn } from "./processes.ts";

const TREES = 100;
const RUNS = 10;
const WITHIN_MS = 2_000;
const scratch = scratchFolder();
afterAll(scratch.remove);

test("I10, scenario 35: 1,000 open runs are all under way again within 2 s of a restart", async () => {
  const site = siteIn(scratch.path);
  const size = { trees: TREES, runs: RUNS };
  expect((await run(site, { mode: "open-runs", ...size })).signal).toBe("SIGKILL");
  expect((await run(site, { mode: "restart", ...size })).code).toBe(0);
  const [before, after] = recordOf(site.record);
  expect(before).toMatchObject({ open: TREES * RUNS, recovered: 0 });
  expect(after).toMatchObject({ open: TREES * RUNS, recovered: TREES });
  process.stdout.write(`1,000 open runs: owned after ${Math.round(Number(after?.["ownedMs"]))} ms\n`);
  expect(Number(after?.["ownedMs"])).toBeLessThan(WITHIN_MS);
}, 120_000);
