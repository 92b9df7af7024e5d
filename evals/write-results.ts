/** Writes the results of one model to a dated file, so that models and days can be compared. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Verdict } from "./evaluate.ts";

/** Returns the path. A second run of the same model on the same day replaces the first. */
export function writeResults(folder: string, model: string, at: Date, verdicts: readonly Verdict[]): string {
  const day = at.toISOString().slice(0, 10);
  const path = join(folder, `${day}-${model.replaceAll(/[^A-Za-z0-9._-]+/g, "-")}.md`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, page(model, at, verdicts));
  return path;
}

function page(model: string, at: Date, verdicts: readonly Verdict[]): string {
  const passed = verdicts.filter((verdict) => verdict.passed).length;
  const rows = verdicts.map(({ name, passed: good, milliseconds, modelCalls, tokens, runs, problems }) => {
    const cells = [name, good ? "pass" : "FAIL", milliseconds, modelCalls, tokens, runs, problems.join("; ")];
    return `| ${cells.map(cell).join(" | ")} |`;
  });
  return [
    `# Delegation tools on ${model}`,
    "",
    `${at.toISOString()}: ${passed} of ${verdicts.length} cases passed. ` +
      `Written by \`npm run eval -- --model ${model}\`.`,
    "",
    "| case | result | ms | model calls | tokens | runs | what was wrong |",
    "|---|---|---:|---:|---:|---:|---|",
    ...rows,
    "",
  ].join("\n");
}

/** A table cell: one line, with escaped separators. */
function cell(value: string | number): string {
  return String(value).replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
}
