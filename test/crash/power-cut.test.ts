/**
 * A loss of power. Nothing is certain to be on disk but what was made durable (fsync) before, and strace says what that
 * was: at every line that the world outside was told, the log is cut there, or anywhere between there and what had been
 * written. What was told must be in what is left.
 */

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { crashTools } from "../../scripts/crash-tools.mjs";
import { createRandom } from "../simulation/random.ts";
import { recordOf } from "./evidence.ts";
import { run, scratchFolder, siteIn } from "./processes.ts";
import { judgeTorn, tornSite } from "./torn-site.ts";
import { momentsIn, tracedInto } from "./tracer.ts";

const TIMEOUT_MS = 180_000;
/** Several, so that one of them is told something while another is at work. */
const CONVERSATIONS = 2;
const PAUSE_MS = 50;
const tools = crashTools();
const scratch = scratchFolder();
const random = createRandom(7);
afterAll(scratch.remove);

test.runIf(tools.strace).each([
  { watched: false, name: "alone" },
  { watched: true, name: "with somebody who watches" },
])(
  "whatever the world outside was told is on disk by then; the rest may be lost, and is done again: $name",
  async ({ watched, name }) => {
    const folder = join(scratch.path, name);
    const killed = siteIn(join(folder, "killed"));
    mkdirSync(killed.folder, { recursive: true });
    const trace = join(folder, "trace");
    // Killed before it closes the store: the log is not yet folded into the database.
    const options = {
      conversations: CONVERSATIONS,
      pauseMs: PAUSE_MS,
      tellCommits: true,
      tellRows: watched,
      kill: { when: "done" },
    } as const;
    await run(killed, options, tracedInto(trace));
    const log = readFileSync(`${killed.store}-wal`);
    const record = recordOf(killed.record);
    const moments = momentsIn(trace, killed);
    expect(moments).toHaveLength(record.length);
    expect(moments.at(-1)?.durable, "the log reaches the disk").toBeGreaterThan(0);
    const late = moments.filter(({ durable, written }) => written > durable);
    expect(late.length, "lines told while something trailed").toBeGreaterThan(0);
    const sites = moments.flatMap(({ durable, written }, index) => {
      const cuts = [durable, durable + random.below(written - durable + 1)];
      return [...new Set(cuts)].map((cut) =>
        tornSite(killed, join(folder, `${index}-${cut}`), log.subarray(0, cut), record.slice(0, index + 1)),
      );
    });
    expect(await judgeTorn(sites, { conversations: CONVERSATIONS })).toEqual([]);
    process.stdout.write(`power cuts: ${sites.length}, at ${late.length} of them with something still to be written\n`);
  },
  TIMEOUT_MS,
);
