import { expect, test } from "vitest";
import type { JournalRow } from "../journal.ts";
import { erasedBodies } from "./erasure.ts";

function row(seq: number, head: object, text?: string): JournalRow {
  const body = text === undefined ? null : JSON.stringify([`salt-${seq}`, [{ type: "text", text }]]);
  return { seq, head: JSON.stringify(head), body, hash: "" };
}

test.each(["salvaged", "tag"] as const)(
  "the words that the parent was told stay where they entered the child's context, though the same reply came once more, too late (%s)",
  (kind) => {
    const text = kind === "tag" ? "<response>the words</response>" : "the words";
    const input = { type: "model-replied", effect: "1.1", attempt: 1, usage: null, stop: "end", size: 9 };
    const rows = [
      row(1, { input: { type: "slots-offered" }, events: [{ type: "model-called", agent: 1, n: 1 }] }),
      row(2, { input, texts: 1 }, text),
      row(3, { input, texts: 1, late: "no such effect is open" }, text),
    ];
    expect(erasedBodies(1, kind, rows)).toEqual([
      { seq: 2, body: rows[1]?.body },
      { seq: 3, body: '["salt-3"]' },
    ]);
  },
);
