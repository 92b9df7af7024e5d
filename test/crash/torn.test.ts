/**
 * Torn files: a write-ahead log that was cut or changed after a kill, a database that was cut, an export that was cut
 * or changed.
 */

import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createErrand } from "../../src/index.ts";
import { sha256 } from "../../src/runtime/create-runtime.ts";
import { readJournalFile } from "../../src/runtime/journals/journal-file.ts";
import { replayJournal } from "../../src/runtime/journals/replay-tree.ts";
import { createRandom } from "../simulation/random.ts";
import { linesOf, type RecordLine, recordOf } from "./evidence.ts";
import { finish, run, scratchFolder, type Site, siteIn } from "./processes.ts";
import { judgeTorn, tornSite } from "./torn-site.ts";
import { trustCopy } from "../support/trusted-store.ts";

const TIMEOUT_MS = 120_000;
const TORN = 24;
/** Late in the scenario, before the log is folded into the database. */
const KILLED_AFTER = 11;
const scratch = scratchFolder();
const killed = newSite("killed");
const random = createRandom(31);

beforeAll(async () => {
  const exit = await run(killed, { tellCommits: true, kill: { when: "after", commit: KILLED_AFTER } });
  expect(exit.signal).toBe("SIGKILL");
}, TIMEOUT_MS);
afterAll(scratch.remove);

function newSite(name: string): Site {
  const folder = join(scratch.path, name);
  mkdirSync(folder);
  return siteIn(folder);
}

/** What the world outside had seen before the first commit that does not end within the intact bytes of the log. */
function seenBefore(intact: number): readonly RecordLine[] {
  const record = recordOf(killed.record);
  const torn = record.findIndex((line) => Number(line["wal"] ?? 0) > intact);
  return torn === -1 ? record : record.slice(0, torn);
}

function torn(name: string, intact: number, change: (log: Buffer) => Buffer): Site {
  const log = change(readFileSync(`${killed.store}-wal`));
  return tornSite(killed, join(scratch.path, name), log, seenBefore(intact));
}

test(
  "scenario 31: a log that was cut anywhere keeps every commit before the cut, and the work goes on from there",
  async () => {
    const size = statSync(`${killed.store}-wal`).size;
    const cuts = Array.from({ length: TORN }, () => random.below(size));
    const ends = recordOf(killed.record).flatMap((line) => ("wal" in line ? [Number(line["wal"])] : []));
    expect(ends).toHaveLength(KILLED_AFTER);
    const sites = [...cuts, ...ends, ...ends.map((end) => end - 1)].map((cut, index) =>
      torn(`cut-${index}`, cut, (log) => log.subarray(0, cut)),
    );
    expect(await judgeTorn(sites)).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "scenario 31: a log with a changed byte keeps every commit before it, and the work goes on from there",
  async () => {
    const size = statSync(`${killed.store}-wal`).size;
    const sites = Array.from({ length: TORN }, (_, index) => {
      const at = random.below(size);
      return torn(`flip-${index}`, at, (log) => {
        log[at] = (log[at] ?? 0) ^ (1 << random.below(8));
        return log;
      });
    });
    expect(await judgeTorn(sites)).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "scenario 31: a database file that was cut is refused with a code and left as it is",
  async () => {
    const whole = newSite("whole");
    await finish(whole);
    const bytes = readFileSync(whole.store);
    for (let index = 0; index < 8; index += 1) {
      const site = newSite(`database-${index}`);
      const cut = bytes.subarray(0, 1 + random.below(bytes.length - 1));
      writeFileSync(site.store, cut);
      trustCopy(whole.store, site.store);
      const refusal = await createErrand({ store: site.store, recover: false, onFailure: () => undefined }).then(
        async (errand) => {
          const reports = await errand.listTrees().then(
            (trees) => Promise.all(trees.map((tree) => errand.replay(tree.id))),
            (error: unknown) => error,
          );
          await errand.close().catch(() => undefined);
          return reports;
        },
        (error: unknown) => error,
      );
      expect(refusal, `cut to ${cut.length}`).toMatchObject({
        code: expect.stringMatching(/^store-(corrupt|unreadable)$/),
      });
      expect(readFileSync(site.store).equals(cut), "the damaged file is as it was").toBe(true);
    }
  },
  TIMEOUT_MS,
);

test(
  "a cut or changed byte anywhere in an export is found, and what stands before it is still proven",
  async () => {
    const site = newSite("exported");
    await finish(site);
    const errand = await createErrand({ store: site.store });
    const [tree] = await errand.listTrees();
    const lines: string[] = [];
    for await (const line of errand.export(tree?.id ?? "")) lines.push(line);
    await errand.close();
    const whole = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    const file = join(site.folder, "export.jsonl");

    async function damage(bytes: Buffer): Promise<string | null> {
      writeFileSync(file, bytes);
      // A last line without an end is a line all the same: the reader shall find out what is wrong with it.
      const read = readFileSync(file, "utf8").replace(/\n$/, "").split("\n");
      async function* each(): AsyncGenerator<string> {
        yield* read;
      }
      try {
        const source = await readJournalFile(each(), sha256);
        const report = await replayJournal(source, sha256);
        return report.difference === null ? (source.problem()?.problem ?? null) : "a difference";
      } catch (error) {
        return String(error);
      }
    }

    expect(await damage(whole)).toBeNull();
    expect(linesOf(file)).toHaveLength(lines.length);
    for (let index = 0; index < 200; index += 1) {
      const at = random.below(whole.length - 2);
      expect(await damage(whole.subarray(0, at)), `cut at ${at}`).not.toBeNull();
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
      expect(await damage(flipped), `changed at ${at}`).not.toBeNull();
    }
  },
  TIMEOUT_MS,
);
