/**
 * I22: the wall clock of a real process jumps by a day, while it lives and between two lives of it; deadlines stay
 * where they were.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { crashTools } from "../../scripts/crash-tools.mjs";
import { recordOf } from "./evidence.ts";
import { scratchFolder, type Site, type SiteOptions, siteIn, start, type StartOptions } from "./processes.ts";

const DAY_S = 86_400;
/** Running times of the two runs, in seconds: the first ends in the first life, the other in the second. */
const SHORT_S = 1;
const LONG_S = 3;
const SLACK_MS = 1_000;
const { faketime } = crashTools();
const scratch = scratchFolder();
afterAll(scratch.remove);

interface Clock {
  readonly options: SiteOptions;
  readonly how: StartOptions;
  jump(seconds: number): void;
}

/**
 * A wall clock that the test moves, monotonic time left alone: libfaketime below Node.js, or else one injected into
 * Errand.
 */
function clockFor(site: Site, library: string | null): Clock {
  const file = join(site.folder, "offset");
  if (library === null) {
    return { options: { wallFile: file }, how: {}, jump: (seconds) => writeFileSync(file, String(seconds * 1_000)) };
  }
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    DONT_FAKE_MONOTONIC: "1",
  };
  return {
    options: {},
    how: { env },
    jump: (seconds) => writeFileSync(file, `${seconds >= 0 ? "+" : ""}${seconds}\n`),
  };
}

/** When, by the test's own clock, the program told this. */
async function whenTold(site: Site, name: string, seconds: number): Promise<number> {
  for (let tries = 0; tries < 3_000; tries += 1) {
    if (recordOf(site.record).some((line) => line[name] === seconds)) return performance.now();
    await sleep(5);
  }
  throw new Error(`the program never told that ${seconds} ${name}`);
}

async function jumpBy(days: number, library: string | null): Promise<void> {
  const folder = join(scratch.path, `${library === null ? "world" : "faketime"}${days}`);
  mkdirSync(folder);
  const site = siteIn(folder);
  const clock = clockFor(site, library);
  const options: SiteOptions = { mode: "deadlines", timeoutSeconds: SHORT_S, ...clock.options };
  clock.jump(0);
  const first = start(site, options, clock.how);
  onTestFinished(() => void first.process.kill("SIGKILL"));
  const begun = await whenTold(site, "spawned", LONG_S);
  await sleep(300);
  clock.jump(days * DAY_S);
  const short = (await whenTold(site, "ended", SHORT_S)) - begun;
  expect(Math.abs(short - SHORT_S * 1_000), `a run of ${SHORT_S} s lasted ${short} ms`).toBeLessThan(SLACK_MS);
  first.process.kill("SIGKILL");
  await first.exit;
  // Between the lives the clock jumps again, to the other side of where it began.
  clock.jump(-days * DAY_S);
  const second = start(site, options, clock.how);
  onTestFinished(() => void second.process.kill("SIGKILL"));
  const long = (await whenTold(site, "ended", LONG_S)) - begun;
  expect(Math.abs(long - LONG_S * 1_000), `a run of ${LONG_S} s lasted ${long} ms`).toBeLessThan(SLACK_MS);
  expect((await second.exit).code).toBe(0);
  const ends = recordOf(site.record).filter((line) => "ended" in line);
  const walls = recordOf(site.record).flatMap((line) => ("wall" in line ? [Number(line["wall"])] : []));
  expect(Math.max(...walls) - Math.min(...walls), "the clock did jump").toBeGreaterThan(DAY_S * 1_000);
  expect(ends.every((line) => line["status"] === "timeout")).toBe(true);
}

test("I22: a wall clock that jumps a day forward, then two back, moves no deadline", () => jumpBy(1, faketime), 60_000);
test(
  "I22: a wall clock that jumps a day back, then two forward, moves no deadline",
  () => jumpBy(-1, faketime),
  60_000,
);
test("I22: the same holds for a clock that is injected", () => jumpBy(1, null), 60_000);
