/** Journals that earlier and present versions wrote: read for ever, and decided again by the version that wrote them. */

import { createHash } from "node:crypto";
import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { replayVerdict } from "../../src/core/replay.ts";
import { readJournalFile } from "../../src/runtime/journals/journal-file.ts";
import { replayJournal } from "../../src/runtime/journals/replay-tree.ts";
import { GOLDEN_SCENARIOS } from "./golden-scenarios.ts";

const folder = fileURLToPath(new URL("golden/", import.meta.url));
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
const files = readdirSync(folder).filter((file) => file.endsWith(".jsonl"));
const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");
const remedy = "If the change was meant, write the golden journals anew: node scripts/golden.mjs";

/** Rows of this scenario have lost their texts, so that they cannot be decided again. */
const ERASED = "erased-texts";

test("there is a golden journal of the current version for every scenario", () => {
  const current = files.filter((file) => file.endsWith(`_${version}.jsonl`));
  expect(current, remedy).toEqual(Object.keys(GOLDEN_SCENARIOS).map((name) => `${name}_${version}.jsonl`).toSorted());
});

describe.each(files)("%s", (file) => {
  const current = file.endsWith(`_${version}.jsonl`);

  test(current ? "is decided again, byte for byte" : "is intact", async () => {
    const journal = await readJournalFile(createInterface(createReadStream(folder + file)), sha256);
    const report = await replayJournal(journal, sha256);
    expect({ difference: report.difference, damage: journal.problem() }, remedy).toEqual({ difference: null, damage: null });
    if (!current) return expect(replayVerdict(report)).toMatch(/^(proven|intact, )/);
    expect(report.foreign, remedy).toEqual([]);
    expect(report.erased.length > 0).toBe(file.startsWith(ERASED));
    expect(replayVerdict(report), remedy).toMatch(file.startsWith(ERASED) ? /^intact, \d+ rows without their texts/ : /^proven$/);
  });
});
