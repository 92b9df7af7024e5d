/** A kernel that throws for one tree is a bug: that tree stops alone, and is quarantined after three tries. */

import { expect, test, vi } from "vitest";
import type { ErrandError } from "../../src/index.ts";
import { byContext, callTool, say } from "../../src/testing/index.ts";
import { openTestErrand } from "../support/test-errand.ts";

const broken = vi.hoisted(() => ({ input: "none", steps: 0 }));

vi.mock(import("../../src/core/tree.ts"), async (original) => {
  const real = await original();
  return {
    ...real,
    treeStep(tree, given, salt) {
      const hit = given.input.type === broken.input && tree.state.agents.get(0)?.definition.name === "poisoned";
      if (hit) broken.steps += 1;
      if (hit) throw new RangeError("a bug of the kernel");
      return real.treeStep(tree, given, salt);
    },
  };
});

test.each(["model-replied", "tool-finished"])("a step that throws for %s quarantines its tree alone", async (input) => {
  broken.input = input;
  broken.steps = 0;
  const notices: ErrandError[] = [];
  const failures: ErrandError[] = [];
  const parent = byContext([callTool("look", {}), say("seen")]);
  const { errand, models } = await openTestErrand(
    { parent },
    {
      agents: {
        orchestrator: { prompt: "You work.", model: "scripted/parent" },
        poisoned: { prompt: "You are poisoned.", model: "scripted/parent" },
      },
      onNotice: (notice) => notices.push(notice),
      onFailure: (error) => failures.push(error),
    },
  );
  const others = Array.from({ length: 5 }, async () => (await (await errand.start("go")).reply()).text);
  const { reply } = await errand.start("go", { agent: "poisoned" });
  await expect(reply()).rejects.toMatchObject({
    code: "tree-quarantined",
    message: expect.stringContaining("a bug of the kernel"),
  });
  await expect(errand.run("go", { agent: "poisoned" })).rejects.toMatchObject({ code: "tree-quarantined" });
  expect(await Promise.all(others)).toEqual(Array.from({ length: 5 }, () => "seen"));
  expect(broken.steps).toBe(6);
  expect(notices.map(({ code }) => code)).toEqual(["tree-quarantined", "tree-quarantined"]);
  expect(failures).toEqual([]);
  // The result was tried again; the model was not paid again for it.
  expect(models.requests.filter(({ system }) => system.includes("You are poisoned."))).toHaveLength(2);
});
