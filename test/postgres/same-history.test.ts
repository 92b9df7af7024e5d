/** I25: the same scenario gives the same history in every store, ids and times aside. */

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { replayVerdict } from "../../src/core/journal/replay.ts";
import { headRead } from "../../src/core/journal/row.ts";
import { readJournalFile } from "../../src/runtime/journals/journal-file.ts";
import { replayJournal } from "../../src/runtime/journals/replay-tree.ts";
import { GOLDEN_SCENARIOS, journalLines } from "../replay/golden-scenarios.ts";
import { createDatabase } from "../support/postgres/databases.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Names of fields that hold a time or a hash over one. */
const TIMES = /"(at|deadline|since|until|hash|body|contexts|rows)":("[^"]*"|\d+|\{[^{}]*\}|\[[^[\]]*\])/g;

/** Tokens are estimated from a request, in which some durations stand. */
const USAGE = /"usage":\{"input":\d+/g;

const moment = async (): Promise<void> => undefined;

/** What happened: the facts and the texts of every row, with ids by the order in which they appear. */
async function history(lines: readonly string[]): Promise<string[]> {
  const journal = await readJournalFile(Readable.from(lines), sha256);
  const told: string[] = [];
  const names = new Map<string, string>();
  for await (const row of journal.rows) {
    const { input, events = [], rejected = null } = headRead(row.head);
    const [, ...texts] = JSON.parse(row.body ?? "[]") as unknown[];
    const facts = JSON.stringify({ input, events, rejected, texts });
    told.push(
      facts
        .replaceAll(TIMES, '"$1":"…"')
        .replaceAll(USAGE, '"usage":{"input":0')
        .replaceAll(UUID, (id) => names.get(id) ?? (names.set(id, `id-${names.size}`), `id-${names.size - 1}`)),
    );
  }
  // Texts are erased beside the model's next call: which of the two is done first is nobody's decision.
  const erasures = told.filter((facts) => facts.includes('"type":"texts-erased"'));
  return [...told.filter((facts) => !erasures.includes(facts)), ...erasures];
}

/** In the scenario "cancel" the user is faster than the model or is not: that is no matter of the store. */
const scenarios = Object.entries(GOLDEN_SCENARIOS).filter(([name]) => name !== "cancel");

describe.each(scenarios)("%s", (name, scenario) => {
  test("has the same history in SQLite and in PostgreSQL, and is proven in both [I25]", async () => {
    const folder = mkdtempSync(join(tmpdir(), "errand-history-"));
    const database = await createDatabase();
    onTestFinished(async () => {
      rmSync(folder, { recursive: true });
      await database.drop();
    });
    const play = (store: string) => journalLines(scenario, { store, settle: moment, close: moment });
    const sqlite = await play(join(folder, "store.db"));
    const postgres = await play(database.url);
    expect(await history(postgres)).toEqual(await history(sqlite));
    const report = await replayJournal(await readJournalFile(Readable.from(postgres), sha256), sha256);
    expect(replayVerdict(report)).toMatch(name === "erased-texts" ? /^intact, / : /^proven$/);
  });
});
