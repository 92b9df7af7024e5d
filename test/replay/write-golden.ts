/**
 * Writes the golden journals of the current version: `node scripts/golden.mjs`. Those of other versions stay: they are what older Errands
 * wrote, and must be readable for ever.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { GOLDEN_SCENARIOS, goldenLines } from "./golden-scenarios.ts";

const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };

for (const [name, scenario] of Object.entries(GOLDEN_SCENARIOS)) {
  const lines = await goldenLines(scenario);
  const file = new URL(`golden/${name}_${manifest.version}.jsonl`, import.meta.url);
  writeFileSync(file, `${lines.join("\n")}\n`);
  process.stdout.write(`${fileURLToPath(file)}: ${lines.length} lines\n`);
}
