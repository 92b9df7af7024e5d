import { expect, test } from "vitest";
import { treeProcesses, type ProcessEntry, readProcessTable } from "./process-table.ts";

const own = 100_000_001;

function entry(pid: number, parent: number, session: number): ProcessEntry {
  return { pid, parent, session, alive: true, kernel: false, startedAt: 0 };
}

function pidsOf(table: readonly ProcessEntry[], marked: readonly number[] = []): readonly number[] {
  return treeProcesses(table, 500, ({ pid }) => marked.includes(pid))
    .map(({ pid }) => pid)
    .toSorted((a, b) => a - b);
}

test("a tree's processes are found by descent, by session or by mark", () => {
  const table = [
    entry(1, 0, 1),
    entry(process.pid, 1, own),
    entry(500, process.pid, 500),
    // Its child in another session, an orphan in that session, and the orphan's child in a third one.
    entry(501, 500, 501),
    entry(502, 1, 501),
    entry(503, 502, 503),
    // Found only by its mark, and its child without a mark.
    entry(600, 1, 600),
    entry(601, 600, 601),
    // An orphan in the root's session.
    entry(700, 1, 500),
    // Not the tree's.
    entry(800, 1, 800),
    entry(801, process.pid, own),
  ];
  expect(pidsOf(table, [600])).toEqual([500, 501, 502, 503, 600, 601, 700]);
  expect(pidsOf(table)).toEqual([500, 501, 502, 503, 700]);
  expect(pidsOf(table.filter(({ pid }) => pid !== 500))).toEqual([700]);
});

test("this process, its session and process 1 never belong, even with the mark", () => {
  const table = [entry(1, 0, 1), entry(process.pid, 1, own), entry(500, process.pid, 500), entry(801, 500, own)];
  expect(pidsOf(table, [1, process.pid, 801])).toEqual([500]);
});

test("the real table holds this process and its parent", () => {
  const table = readProcessTable().entries;
  expect(table.find(({ pid }) => pid === process.pid)).toMatchObject({ parent: process.ppid, alive: true });
  expect(table.some(({ pid }) => pid === process.ppid)).toBe(true);
});
