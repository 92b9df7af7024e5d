/**
 * Journals that earlier revisions and this one wrote: readable for ever, and decided again by the revision that wrote
 * them.
 */

import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { replayVerdict } from "../../src/core/journal/replay.ts";
import { ROW_REVISION } from "../../src/core/journal/revision.ts";
import { readJournalFile } from "../../src/runtime/journals/journal-file.ts";
import { replayJournal } from "../../src/runtime/journals/replay-tree.ts";
import { GOLDEN_REMEDY, goldenFiles } from "./golden-files.ts";
import { GOLDEN_SCENARIOS, goldenLines } from "./golden-scenarios.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");
const current = goldenFiles().filter(({ revision }) => revision === ROW_REVISION);
const earlier = goldenFiles().filter(({ revision }) => revision !== ROW_REVISION);

/** Rows of this scenario have lost their texts, so they cannot be decided again. */
const ERASED = "erased-texts";

test("there is a golden journal of the current revision for every scenario", () => {
  expect(current.map(({ scenario }) => scenario).toSorted(), GOLDEN_REMEDY).toEqual(
    Object.keys(GOLDEN_SCENARIOS).toSorted(),
  );
});

test("the journals of the first release are still there", () => {
  expect(goldenFiles().filter(({ revision }) => revision === "3.4")).toHaveLength(6);
});

describe.each(current)("$name", ({ scenario, url }) => {
  test("is decided again byte for byte", async () => {
    const { report, damage } = await replayed(url);
    expect({ difference: report.difference, damage, foreign: report.foreign }, GOLDEN_REMEDY).toEqual({
      difference: null,
      damage: null,
      foreign: [],
    });
    expect(replayVerdict(report)).toMatch(scenario === ERASED ? /^intact, \d+ rows without their texts/ : /^proven$/);
  });

  test("is what playing the scenario gives", async () => {
    const played = GOLDEN_SCENARIOS[scenario];
    if (played === undefined) throw new Error(`there is no scenario ${scenario}`);
    expect(await goldenLines(played), GOLDEN_REMEDY).toEqual(readFileSync(url, "utf8").trimEnd().split("\n"));
  });
});

describe.each(earlier)("$name", ({ revision, url }) => {
  test("is intact", async () => {
    const { report, damage } = await replayed(url);
    expect({ difference: report.difference, damage }).toEqual({ difference: null, damage: null });
    expect(replayVerdict(report)).toBe(`intact, decided by revision ${revision}, not re-decided`);
  });
});

async function replayed(url: URL) {
  const journal = await readJournalFile(createInterface(createReadStream(url)), sha256);
  const report = await replayJournal(journal, sha256);
  return { report, damage: journal.problem() };
}
