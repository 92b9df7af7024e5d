import { afterAll, expect, test } from "vitest";
import { killLoop } from "./kill-loop.ts";
import { scratchFolder, siteIn } from "./processes.ts";

const KILLS = 50;
const SEED = 4;
const scratch = scratchFolder();
afterAll(scratch.remove);

test(`killed ${KILLS} times at random, several conversations in a store lose and double nothing`, async () => {
  const loop = await killLoop(siteIn(scratch.path), KILLS, SEED);
  process.stdout.write(`kill loop: ${JSON.stringify(loop)}\n`);
  expect(loop.findings).toEqual([]);
  expect(loop.atWork, "kills that hit work").toBeGreaterThan(KILLS / 2);
  expect(loop.recovered, "restarts that found work under way").toBeGreaterThan(KILLS / 5);
}, 300_000);
