/** A small correct journal, written by hand, for the tests of the checkers. Each test changes it in one place. */

import { settingsOf } from "../../src/core/values/limits.ts";
import type { JournalRow } from "../../src/core/journal/journal.ts";
import { headRead } from "../../src/core/journal/row.ts";
import { sha256 } from "./invariants/chain.ts";
import { checkRow } from "./invariants/row.ts";
import { type WatchedTree, watchedTree } from "./invariants/watched-tree.ts";

/** A loosely typed fact, because the tests write wrong ones on purpose. */
export type LooseFact = Record<string, unknown> & { type: string };

export interface SmallStep {
  input: LooseFact;
  events: LooseFact[];
  /** The first text of its body. */
  text?: unknown;
}

const definition = (name: string, tools: readonly { name: string; safe: boolean }[]): Record<string, unknown> => ({
  name,
  hash: name,
  reporting: "tool",
  model: "sim/x",
  window: null,
  price: null,
  tools,
  iterations: null,
  timeoutSeconds: null,
  typed: false,
  say: false,
});
const LOOK = { name: "look", safe: true };
const STRIKE = { name: "strike", safe: false };
export const RUN_NAME = "count the words";
export const RUN_ID = "00000000-0000-7000-8000-000000000001";
export const CHILD_ID = "00000000-0000-7000-8000-0000000000a1";
export const ROOT_ID = "00000000-0000-7000-8000-000000000000";

const replied = (effect: string): LooseFact => ({
  type: "model-replied",
  effect,
  attempt: 1,
  usage: null,
  stop: "end",
  size: 1,
});
const called = (agent: number, n: number): LooseFact => ({ type: "model-called", agent, n });

/** The rights of the process that wrote it. */
export const SMALL_RIGHTS = { tools: ["look", "strike"] };

/** A message, a background child with a tool and a report, its announcement, the answer. */
export function smallSteps(): SmallStep[] {
  const catalog = [definition("boss", [LOOK, STRIKE]), definition("worker", [LOOK])];
  return [
    {
      input: {
        type: "tree-opened",
        agent: ROOT_ID,
        kind: "foreground",
        definition: "boss",
        catalog,
        settings: settingsOf(),
        rights: SMALL_RIGHTS,
      },
      events: [],
    },
    {
      input: { type: "message-posted", id: "post-1", to: 0, kind: "user", size: 1 },
      events: [{ type: "turn-started", agent: 0, take: ["2.0"] }, called(0, 1)],
    },
    {
      input: replied("2.1"),
      text: [{ type: "tool-call", id: "c0", name: "start_background_agent", input: { task: RUN_NAME } }],
      events: [
        {
          type: "run-created",
          run: 1,
          parent: 0,
          id: RUN_ID,
          agent: CHILD_ID,
          mode: "background",
          definition: "worker",
          call: "c0",
          iterations: 8,
          timeoutMs: 30_000,
        },
        { type: "tool-answered", agent: 0, call: "c0", text: 1, size: 1 },
        { type: "run-started", run: 1 },
        called(1, 1),
        called(0, 2),
      ],
    },
    {
      input: replied("3.2"),
      events: [
        { type: "channel-sent", agent: 0, n: 1 },
        { type: "turn-ended", agent: 0, outcome: "done", posts: ["post-1"] },
      ],
    },
    { input: replied("3.1"), events: [{ type: "tool-called", agent: 1, n: 1, call: "c0", name: "look", safe: true }] },
    {
      input: { type: "tool-finished", effect: "5.1", attempt: 1, size: 1 },
      events: [called(1, 1)],
    },
    {
      input: replied("6.1"),
      events: [
        { type: "run-reported", run: 1, call: "c0" },
        { type: "turn-ended", agent: 1, outcome: "done" },
        { type: "run-ended", run: 1, status: "ok", report: "tool" },
        { type: "announcement-queued", agent: 0, key: "7.1", runs: [1] },
        { type: "turn-started", agent: 0, take: [], announcement: "7.1", placed: [1] },
        called(0, 2),
      ],
    },
    { input: replied("7.2"), events: [{ type: "turn-ended", agent: 0, outcome: "done" }] },
  ];
}

/** Rows with an intact chain, whatever their content. */
export function smallRows(steps: readonly SmallStep[]): JournalRow[] {
  let hash = "";
  return steps.map(({ input, events, text = "text" }, index) => {
    const body = JSON.stringify(["salt", text]);
    const head = JSON.stringify({ rev: "1", at: index, input, events, body: sha256(body) });
    hash = sha256(hash + head);
    return { seq: index + 1, head, body, hash };
  });
}

/** Shows the rows to the checkers of rows. */
export function watchRows(rows: readonly JournalRow[]): WatchedTree {
  const tree = watchedTree(ROOT_ID, "boss");
  for (const [index, row] of rows.entries()) checkRow(tree, row, headRead(row.head), index * 100, 1);
  return tree;
}
