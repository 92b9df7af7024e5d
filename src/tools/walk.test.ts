import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createWalk } from "./walk.ts";
import { openWorkspace } from "./workspace.ts";

test("an aborted walk opens no further folders", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "errand-walk-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["a", "b", "c"]) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "file.txt"), "");
  }
  const workspace = await openWorkspace(folder);
  if ("refused" in workspace) throw new Error(workspace.refused);
  const from = await workspace.locate(".");
  if ("refused" in from) throw new Error(from.refused);
  const controller = new AbortController();
  const walk = await createWalk(workspace, { from, pattern: undefined, depth: 9, signal: controller.signal });
  const seen: string[] = [];
  for await (const { path } of walk.entries()) {
    seen.push(path);
    controller.abort();
  }
  expect(seen).toEqual(["a/file.txt"]);
  expect(walk.tally.folders).toBe(2);
});
