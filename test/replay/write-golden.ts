/**
 * Adds the golden journals of the current revision: `node scripts/run.mjs golden`. A journal that is already there is
 * compared and never written again, because users of that revision have such journals in their stores.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { GOLDEN_REMEDY, goldenExists, goldenFile } from "./golden-files.ts";
import { GOLDEN_SCENARIOS, goldenLines } from "./golden-scenarios.ts";

for (const [name, scenario] of Object.entries(GOLDEN_SCENARIOS)) {
  const text = `${(await goldenLines(scenario)).join("\n")}\n`;
  const file = goldenFile(name);
  const shown = decodeURIComponent(file.pathname.slice(file.pathname.lastIndexOf("/") + 1));
  if (!goldenExists(name)) {
    writeFileSync(file, text);
    process.stdout.write(`${shown}: added\n`);
  } else if (readFileSync(file, "utf8") === text) {
    process.stdout.write(`${shown}: unchanged\n`);
  } else {
    process.stderr.write(`${shown}: this version writes another journal; the file is unchanged.\n${GOLDEN_REMEDY}\n`);
    process.exitCode = 1;
  }
}
