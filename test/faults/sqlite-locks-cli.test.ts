/** The command line while another program holds the write lock of the store's file. */

import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Finished, projectFolder, records, runErrand } from "../cli/support/errand-process.ts";
import { saidOf } from "../cli/support/worked-project.ts";

vi.setConfig({ testTimeout: 120_000 });

const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

const errand = (...args: string[]): Promise<Finished> => runErrand(args, project);

test("what reads goes on; what writes waits for a while and then says who to look for", async () => {
  expect(await errand("run", "--store", "s.db", "the store")).toMatchObject({ code: 0 });
  const browser = new DatabaseSync(join(project.folder, "s.db"));
  browser.exec("begin immediate");
  const listed = await errand("ps", "--all", "--json", "--store", "s.db");
  expect(listed.code).toBe(0);
  const tree = String(records(listed.out)[0]?.["id"]);
  for (const command of ["show", "logs"])
    expect(await errand(command, "--store", "s.db", tree)).toMatchObject({ code: 0 });
  const sent = await errand("send", "--store", "s.db", tree, "and the tests?");
  expect(saidOf(sent.err)).toMatchObject({ code: "store-busy" });
  expect(sent.err).toMatch(/database browser/);
  expect({ code: sent.code, out: sent.out }).toEqual({ code: 1, out: "" });
  browser.exec("rollback");
  browser.close();
  expect(await errand("send", "--store", "s.db", tree, "and the tests?")).toMatchObject({ code: 0 });
});
