/** How many turns of the event loop commits take: what effects bring back at once is taken in the same turn, unless a commit had to wait. */

import { expect, test } from "vitest";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { byContext, callTool, callTools, say, type Script } from "../../src/testing/index.ts";
import type { Store } from "../../src/index.ts";
import { openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const child = byContext([callTool("look", {}), callTool("send_agent_message", { text: "found it" }), say("done")]);

/** What a message led to, in order: commits, and turns of the event loop that the runtime asked for. */
async function watched(
  scripts: { readonly parent: Script; readonly child?: Script },
  waits: Store["waits"],
  limits = {},
): Promise<string> {
  const store = createMemoryStore();
  const world = createTestWorld();
  let seen = "";
  const watching: Store = {
    ...store,
    waits,
    commit(commit) {
      seen += "c";
      return store.commit(commit);
    },
  };
  const soon = (callback: () => void): void => {
    seen += "t";
    world.soon(callback);
  };
  const { errand } = await openTestErrand(scripts, { store: watching, world: { ...world, soon }, limits });
  seen = "";
  const { reply } = await errand.start("please find it");
  await reply();
  return seen;
}

test.each([
  { waits: "always", name: "each commit is one of a turn of its own where all wait", expected: "tctctctctctctc" },
  { waits: "unless-it-trails", name: "those that trail are followed in their turn", expected: "tctcccccc" },
  { waits: "never", name: "all are, where none waits", expected: "tccccccc" },
] as const)("a delegation of 7 commits: $name", async ({ waits, expected }) => {
  const parent = byContext([callTool("subagent", { task: "find it" }), say("It is found.")]);
  expect(await watched({ parent, child }, waits)).toBe(expected);
});

test.each([
  { calls: 20, expected: "tcccc" },
  { calls: 61, expected: "tccctc" },
])("$calls calls that come back together share a commit, also one that follows", async ({ calls, expected }) => {
  const looks = callTools(Array.from({ length: calls }, () => ({ name: "look", input: {} })));
  expect(await watched({ parent: byContext([looks, say("seen")]) }, "never")).toBe(expected);
});

test("others have their turn after 64 inputs", async () => {
  const parent: Script = (_request, { replies }) => (replies < 50 ? callTool("look", {}) : say("seen"));
  const seen = await watched({ parent }, "never", { turnIterations: 60 });
  // The first commit takes two: the opening and the message.
  expect(seen).toBe(`t${"c".repeat(63)}t${"c".repeat(39)}`);
});
