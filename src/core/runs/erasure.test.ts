import { expect, test } from "vitest";
import type { JournalRow } from "../journal/journal.ts";
import { erasedBodies } from "./erasure.ts";

function row(seq: number, head: object, ...texts: readonly unknown[]): JournalRow {
  const body = texts.length === 0 ? null : JSON.stringify([`salt-${seq}`, ...texts]);
  return { seq, head: JSON.stringify(head), body, hash: "" };
}

const called = row(1, { input: { type: "slots-offered" }, events: [{ type: "model-called", agent: 1, n: 1 }] });
const input = { type: "model-replied", effect: "1.1", attempt: 1, usage: null, stop: "end", size: 9 };
const words = [{ type: "text", text: "the words" }];

test("erasure keeps the recorded result and erases the child's words, also in a rejected duplicate", () => {
  const ended = [
    { type: "turn-ended", agent: 1, outcome: "done", answer: 1 },
    { type: "run-ended", run: 1, status: "ok", report: "salvaged", result: 2 },
  ];
  const rows = [
    called,
    row(2, { input, texts: 1, events: ended }, words, "the answer", { text: "the words" }),
    row(3, { input, texts: 1, late: "no such effect is open" }, words),
  ];
  expect(erasedBodies(1, rows)).toEqual([
    { seq: 2, body: '["salt-2",null,"the answer",{"text":"the words"}]' },
    { seq: 3, body: '["salt-3"]' },
  ]);
});

test("erasure keeps messages to other agents and their answers, and erases answers to the child", () => {
  const calls = ["a", "b"].map((id) => ({ type: "tool-call", id, name: "send_agent_message", input: { text: id } }));
  const events = [
    { type: "message-sent", n: 1, from: 1, to: 2, call: "b", kind: "system", size: 1 },
    { type: "tool-answered", agent: 1, call: "a", text: 1, size: 1 },
    { type: "tool-answered", agent: 2, call: "c", text: 2, size: 1 },
    { type: "turn-ended", agent: 1, outcome: "done", answer: 3 },
  ];
  const rows = [called, row(2, { input, texts: 1, events }, [...words, ...calls], "sent", "for another", "an answer")];
  expect(erasedBodies(1, rows)).toEqual([
    { seq: 2, body: JSON.stringify(["salt-2", [calls[1]], null, "for another"]) },
  ]);
});

test("rows of other agents stay as they are", () => {
  const other = row(2, { input: { ...input, effect: "1.2" }, texts: 1 }, words);
  expect(erasedBodies(1, [called, other])).toEqual([]);
});
