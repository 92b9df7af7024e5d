import fc from "fast-check";
import { expect, test } from "vitest";
import type { JournalRow } from "./journal.ts";
import { drive, sha256, testSource } from "../random-tree.test-support.ts";
import { replayBegin, type ReplayReport, replayVerdict } from "./replay.ts";
import { headRead } from "./row.ts";

function replayed(rows: readonly JournalRow[]): ReplayReport {
  const replay = replayBegin(testSource);
  for (const row of rows) if (!replay.take(row)) break;
  return replay.report();
}

const numbers = Array.from({ length: 800 }, (_, index) => (index * 7_919 + 13) % 1_000);
const { rows } = drive(numbers, { maxDepth: 2 });

function changed(seq: number, change: Partial<JournalRow>): JournalRow[] {
  return rows.map((row) => (row.seq === seq ? { ...row, ...change } : row));
}

test("F11: a journal as it was written is proven", () => {
  expect(replayed(rows)).toMatchObject({ rows: rows.length, decided: rows.length, difference: null, erased: [] });
  expect(replayVerdict(replayed(rows))).toBe("proven");
});

test("F11: a flipped byte anywhere in a head, a body or a hash is found, at or before the row after it", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.constantFrom("head", "body", "hash"), (which, where, part) => {
      const row = rows[which % rows.length];
      const text = row?.[part];
      if (row === undefined || text === null || text === undefined) return;
      const at = where % text.length;
      const flipped = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
      const { difference } = replayed(changed(row.seq, { [part]: flipped }));
      expect(difference?.seq).toBe(row.seq);
    }),
    { numRuns: 500 },
  );
});

test("I21: a missing, a repeated and a moved row are found by their number", () => {
  expect(replayed(rows.filter((row) => row.seq !== 5)).difference).toMatchObject({ seq: 5, what: "numbering" });
  expect(replayed([...rows.slice(0, 5), ...rows.slice(4)]).difference).toMatchObject({ seq: 6, what: "numbering" });
});

/** A row whose head was changed by somebody who knows how to hash: only deciding again finds it. */
function forged(seq: number, forge: (head: string) => string): JournalRow[] {
  let hash = "";
  return rows.map((row) => {
    const head = row.seq === seq ? forge(row.head) : row.head;
    hash = sha256(hash + head);
    return { ...row, head, hash };
  });
}

test("F11: a decision that was changed with its hashes is shown with both sides", () => {
  const seq = rows.find((row) => row.head.includes('"turn-started"'))?.seq ?? 0;
  const report = replayed(forged(seq, (head) => head.replace('"agent":0', '"agent":7')));
  expect(report.difference).toMatchObject({ seq, what: "decision" });
  expect(report.difference?.recorded).not.toBe(report.difference?.expected);
  expect(replayVerdict(report)).toBe(`broken at row ${seq} (decision)`);
});

test("F11: a context that differs in one byte is found by its recorded hash", () => {
  const seq = rows.find((row) => row.head.includes('"contexts"'))?.seq ?? 0;
  const report = replayed(forged(seq, (head) => head.replace(/"contexts":\["./, '"contexts":["~')));
  expect(report.difference).toMatchObject({ seq, what: "decision" });
});

test("rows of another revision are folded, and the verdict says that they were not decided again", () => {
  const report = replayed(forged(rows.length, (head) => head.replace('"rev":"', '"rev":"9')));
  expect(report.difference).toBeNull();
  expect(replayVerdict(report)).toBe(
    `intact, decided by revision 9${headRead(rows[0]?.head ?? "").rev}, not re-decided`,
  );
});

test("a body that is gone without a recorded erasure is a difference", () => {
  const seq = rows.find((row) => row.body !== null)?.seq ?? 0;
  expect(replayed(changed(seq, { body: null })).difference).toMatchObject({ seq, what: "body", recorded: "(none)" });
});

test("what cannot be read is a difference, not an exception", () => {
  const report = replayed(forged(3, () => "no json"));
  expect(report.difference).toMatchObject({ seq: 3, what: "unreadable" });
});
