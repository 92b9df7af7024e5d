/** The titles of trees, and short ids: what lists call a conversation. */

import { describe, expect, test } from "vitest";
import type { Store } from "../../src/contracts/store.ts";
import { asTreeId } from "../../src/core/values/ids.ts";
import { findId } from "../../src/cli/store/find-id.ts";
import { shortIds } from "../../src/cli/store/short-ids.ts";
import { readTitle, readTitles, type Title } from "../../src/cli/store/titles.ts";
import { displayWidth } from "../../src/cli/text/display-width.ts";
import { callTool } from "../../src/testing/index.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { openTestErrand } from "../support/test-errand.ts";

const SCOPE = { kind: "named", store: "memory", from: "--store" } as const;

/** The store with a tree for each of these first messages, and the titles of the trees. */
async function asked(...messages: readonly string[]): Promise<{ readonly store: Store; readonly titles: Title[] }> {
  const store = createMemoryStore();
  const { errand } = await openTestErrand({ parent: messages.map(() => "Yes.") }, { store });
  const ids: string[] = [];
  for (const message of messages) {
    const { agent } = await errand.start(message);
    await agent.settled();
    ids.push(agent.id);
  }
  return { store, titles: await titlesOf(store, ids) };
}

async function titlesOf(store: Store, ids: readonly string[]): Promise<Title[]> {
  const trees = (await Promise.all(ids.map((id) => store.tree(asTreeId(id))))).filter((tree) => tree !== null);
  const titles = await readTitles(store, trees);
  return trees.flatMap(({ id }) => titles.get(id) ?? []);
}

describe("the title of a tree", () => {
  test("is the first message on one line, sanitised and bounded", async () => {
    const { titles } = await asked(
      "  where is\n\n\tthe store opened?  ",
      "\u001b]0;owned\u0007\u001b[31mred\u001b[0m \u202Etfel\u0000 \u009b2Jend",
      "世界 ".repeat(10_000),
      " \n ",
    );
    expect(titles.map(({ words }) => words)).toEqual([
      "where is the store opened?",
      "red tfel end",
      expect.stringMatching(/^世界 世界 .+…$/),
      "(an empty message)",
    ]);
    expect(displayWidth(titles[2]?.title ?? "")).toBeLessThanOrEqual(80);
    expect(titles[3]?.title).toBeNull();
  });

  test("of a typed task is the task", async () => {
    const store = createMemoryStore();
    const { errand } = await openTestErrand(
      { parent: [], child: [callTool("send_agent_message", { text: "One.", data_json: '{"n": 1}', final: true })] },
      { store },
    );
    const output = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    const { tree } = await errand.run("count the tests", { output });
    expect(await titlesOf(store, [tree])).toEqual([{ title: "count the tests", words: "count the tests" }]);
  });

  test("of a conversation opened before its first message is that message", async () => {
    const store = createMemoryStore();
    const { errand } = await openTestErrand({ parent: ["Yes."] }, { store });
    const agent = await errand.openAgent();
    expect(await titlesOf(store, [agent.id])).toEqual([{ title: null, words: "(nothing was asked yet)" }]);
    await agent.postAndAwait("and now?");
    expect(await titlesOf(store, [agent.id])).toEqual([{ title: "and now?", words: "and now?" }]);
  });

  test("is gone with the text, with the journal, and with rows that cannot be read", async () => {
    const { store } = await asked("a secret");
    const [tree] = await store.trees({ limit: 1 });
    if (tree === undefined) throw new Error("no tree");
    const rows = await store.rows(tree.id, 1, 10);
    const erased = { ...store, rows: async () => rows.map((row) => ({ ...row, body: null })) };
    expect(await readTitle(erased, tree)).toEqual({ title: null, words: "(its text is gone)" });
    expect(await readTitle(store, { ...tree, status: "expired" })).toEqual({ title: null, words: "(expired)" });
    const damaged = { ...store, rows: async () => rows.map((row) => ({ ...row, head: "no head" })) };
    expect(await readTitle(damaged, tree)).toEqual({ title: null, words: "(unreadable)" });
  });
});

describe("short ids", () => {
  test("are the shortest ends of six or more characters that differ", () => {
    const beginning = "01a1f5bd-10e8-740d-a02d-";
    const short = (...ends: string[]): string[] => [...shortIds(ends.map((end) => beginning + end)).values()];
    expect(short("3c67a6fb395e", "3c67a60b395e")).toEqual(["fb395e", "0b395e"]);
    expect(short("3c67a6fb395e", "3c77a6fb395e", "3c67a60b395e")).toEqual(["67a6fb395e", "77a6fb395e", "67a60b395e"]);
  });

  test("are beginnings where the ends are alike", () => {
    const ids = ["01a1f5bd-10e8-7000-8000-000000000000", "01a1f5be-10e8-7000-8000-000000000000"];
    expect([...shortIds(ids).values()]).toEqual(["01a1f5bd", "01a1f5be"]);
  });

  test("of one id alone is its end", () => {
    expect([...shortIds(["01a1f5bd-10e8-740d-a02d-3c67a6fb395e"]).values()]).toEqual(["fb395e"]);
  });
});

test("an error about an id shows the titles of others as one line of plain text", async () => {
  const { store } = await asked("\u001b[2J\u001b[31mhostile\nlines\u202E", "other");
  const refused = await findId(store, "ffffff", SCOPE).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "tree-unknown", remedy: expect.stringContaining('"hostile lines"') });
  expect(JSON.stringify(refused)).not.toMatch(/u001b|u202/iu);
});
