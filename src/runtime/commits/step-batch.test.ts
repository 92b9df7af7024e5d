import { expect, test } from "vitest";
import { asPostId, asTreeId } from "../../core/values/ids.ts";
import { treeNew, treeSource } from "../../core/tree.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";
import { createInputQueue } from "./input-queue.ts";
import type { Loads } from "./loads.ts";
import type { FailingTrees } from "./failing-trees.ts";
import type { Slots } from "./slots.ts";
import { createStepBatch } from "./step-batch.ts";
import type { TreeCache } from "../trees/tree-cache.ts";
import { sha256 } from "../create-runtime.ts";
import { createSystemWorld } from "../world.ts";

/** More than a call takes as arguments. */
const MANY = 200_000;

test("a batch that ends leaves any number of inputs to the next one, in order", () => {
  const queue = createInputQueue();
  const source = treeSource(sha256, () => {
    throw new Error("no definition is needed");
  });
  const loaded = { tree: treeNew(source), epoch: 1 } as LoadedTree;
  const stepBatch = createStepBatch({
    world: createSystemWorld(),
    clock: { now: () => 1 },
    trees: { get: (id) => ({ ...loaded, id }) } as TreeCache,
    slots: { available: () => 0, update: () => undefined } as Partial<Slots> as Slots,
    rights: { tools: [] },
    queue,
    loads: { full: () => false, loading: () => false } as Partial<Loads> as Loads,
    failing: {
      has: (tree) => tree === asTreeId("tree-0"),
      fail: (_tree, _inputs, error) => {
        throw error;
      },
    } as Partial<FailingTrees> as FailingTrees,
  });
  for (let n = 0; n < MANY; n += 1) {
    const input = { type: "message-posted", id: asPostId(`m${n}`), to: 0, kind: "user", size: 1 } as const;
    queue.add({ tree: asTreeId(`tree-${n}`), input, texts: ["x"] }, { resolve: () => {}, reject: () => {} });
  }
  expect(stepBatch()).toMatchObject([{ loaded: { id: "tree-0" } }]);
  expect(queue.size()).toBe(MANY - 1);
  expect(queue.takeAll()[0]?.submission.tree).toBe("tree-1");
});
