import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { createRandom } from "../simulation/random.ts";
import { evidenceOf, recordOf } from "./evidence.ts";
import { judgeCrashed } from "./judge-crashed.ts";
import { judgeStore } from "./judge.ts";
import { finish, scratchFolder, siteIn, start, untilAtWork } from "./processes.ts";

const TIMES = 12;
const CLOSE_WITHIN_MS = 300;
/** What ending a process takes besides closing, on a machine that others use too. */
const SLACK_MS = 1_500;
const scratch = scratchFolder();
afterAll(scratch.remove);

test("on SIGTERM at random moments the process ends in time, and the next one finishes everything", async () => {
  const site = siteIn(scratch.path);
  const random = createRandom(7);
  let conversations = 0;
  let slowest = 0;
  for (let life = 0; life < TIMES; life += 1) {
    conversations += 2;
    const { process, exit } = start(site, { conversations, pauseMs: 60, closeWithinMs: CLOSE_WITHIN_MS });
    await untilAtWork(site, life + 1, exit);
    await sleep(random.below(300));
    const told = performance.now();
    process.kill("SIGTERM");
    expect(await exit).toEqual({ code: 0, signal: null });
    slowest = Math.max(slowest, performance.now() - told);
    expect(await judgeCrashed(site, evidenceOf(site))).toEqual([]);
  }
  expect(slowest).toBeLessThan(CLOSE_WITHIN_MS + SLACK_MS);
  const cut = recordOf(site.record).filter((line) => Number(line["recovered"] ?? 0) > 0).length;
  expect(cut, "lives that found work of an earlier one").toBeGreaterThan(2);
  await finish(site, { conversations });
  expect(await judgeStore(site.store, evidenceOf(site))).toEqual([]);
  process.stdout.write(
    `SIGTERM: ${TIMES} times, the slowest end took ${Math.round(slowest)} ms, ${cut} left work behind\n`,
  );
}, 120_000);
