/** A data folder of the test run's own: no test writes into that of the person who runs it. It goes with the run. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "errand-data-"));
  // The processes of the tests inherit it.
  process.env["XDG_DATA_HOME"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
