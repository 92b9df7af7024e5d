/** Gives the test run a folder for the packed package (packed-project.ts). It is deleted after the run. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "errand-packed-"));
  process.env["ERRAND_TEST_PACKAGE"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
