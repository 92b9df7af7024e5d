/** What a program that gave no `onNotice` is told: a warning of the process, with what to do. */

import { expect, onTestFinished, test } from "vitest";
import { ErrandError, type Store } from "../../src/index.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { say } from "../../src/testing/index.ts";
import { openTestErrand } from "../support/test-errand.ts";

test("a notice that nobody listens for is a warning with its remedy", async () => {
  const warnings: (Error & { readonly code?: string; readonly detail?: string })[] = [];
  const listener = (warning: Error): void => void warnings.push(warning);
  process.on("warning", listener);
  onTestFinished(() => void process.off("warning", listener));
  const memory = createMemoryStore();
  let room = 2;
  const store: Store = {
    ...memory,
    async commit(commit) {
      room -= 1;
      if (room === 0) throw new ErrandError("store-full", "The disk is full.", { remedy: "Make room." });
      return memory.commit(commit);
    },
  };
  const { errand } = await openTestErrand({ parent: [say("heard")] }, { store });
  const { reply } = await errand.start("go");
  expect((await reply()).text).toBe("heard");
  // The end is reported once it has lasted.
  await expect
    .poll(() => warnings.map(({ code, detail }) => [code, detail]), { timeout: 10_000 })
    .toEqual([
      ["store-full", "Make room."],
      ["store-full", undefined],
    ]);
});
