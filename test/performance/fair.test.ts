/**
 * Fair under load: 2,000 conversations of 3 children each, all ready at once, hold up the event loop for at most 50 ms
 * (p99). What else runs on the machine only makes it longer, so the best of a few tries counts.
 */

import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/test-errand.ts";
import { holdUp } from "./fair.test-support.ts";

const TRIES = 4;
const MOST_MS = 50;

test.each([
  { name: "memory", store: () => "memory" },
  { name: "SQLite", store: () => join(temporaryFolder(), "errand.db") },
])("$name: the event loop is held up for at most 50 ms (p99) by 2,000 conversations", async ({ name, store }) => {
  await holdUp("memory", 100, 3);
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && best > MOST_MS; tries += 1) {
    const held = await holdUp(store(), 2_000, 3);
    const { p99, longest, seconds } = held;
    process.stdout.write(
      `${name}: p99 ${p99.toFixed(1)} ms, longest ${longest.toFixed(1)} ms, ${seconds.toFixed(1)} s\n`,
    );
    best = Math.min(best, p99);
  }
  expect(best).toBeLessThanOrEqual(MOST_MS);
});
