/**
 * Gives the test run its own data folder, so that no test writes into that of the user. It is deleted after the run.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "errand-data-"));
  // The processes of the tests inherit it.
  process.env["XDG_DATA_HOME"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
