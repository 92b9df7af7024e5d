/**
 * `npm run eval`: tests the delegation tools on the scripted model, or with `--model provider/name` on any model. The
 * results of a real model go to a dated file.
 *
 * Exit codes: 0 every case passed, 1 a case failed, 2 wrong use or an unavailable model.
 */

import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { ErrandError } from "../src/index.ts";
import { cases } from "./delegation.ts";
import { evaluate, type Verdict } from "./evaluate.ts";
import { writeResults } from "./write-results.ts";

const HELP = `Usage: npm run eval -- [--model provider/name] [--results FOLDER] [--json]

Runs every case of the delegation tools and says which passed, by what the journal recorded.

  --model provider/name  ask this model, and write the table to a file; default: the scripted one, and no file
  --results FOLDER       where that file goes, as DATE-provider-name.md; default: evals/results
  --json                 print one JSON object instead of a table
`;

interface Options {
  readonly model: string | null;
  readonly json: boolean;
  readonly results: string;
}

class UsageError extends Error {}

function optionsOf(args: readonly string[]): Options | "help" {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        model: { type: "string" },
        results: { type: "string" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help === true) return "help";
    const { model = null, results = join(import.meta.dirname, "results") } = values;
    return { model, results, json: values.json === true };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

const COLUMNS = [
  ["case", (verdict) => verdict.name],
  ["result", (verdict) => (verdict.passed ? "pass" : "FAIL")],
  ["ms", (verdict) => String(verdict.milliseconds)],
  ["model calls", (verdict) => String(verdict.modelCalls)],
  ["tokens", (verdict) => String(verdict.tokens)],
  ["runs", (verdict) => String(verdict.runs)],
] as const satisfies readonly (readonly [string, (verdict: Verdict) => string])[];
/** Columns from this one on are numbers, aligned to the right. */
const FIRST_NUMBER = 2;

function table(verdicts: readonly Verdict[]): string {
  const rows = [COLUMNS.map(([name]) => name), ...verdicts.map((verdict) => COLUMNS.map(([, cell]) => cell(verdict)))];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, column: number): string =>
    column < FIRST_NUMBER ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(padded).join("  ").trimEnd()).join("\n");
}

async function main(args: readonly string[]): Promise<number> {
  const options = optionsOf(args);
  if (options === "help") {
    process.stdout.write(HELP);
    return 0;
  }
  const verdicts: Verdict[] = [];
  for (const given of cases) verdicts.push(await evaluate(given, options.model));
  const failed = verdicts.filter((verdict) => !verdict.passed);
  const passed = verdicts.length - failed.length;
  const model = options.model ?? "scripted";
  const file = options.model === null ? null : writeResults(options.results, model, new Date(), verdicts);
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ model, passed, failed: failed.length, file, cases: verdicts })}\n`);
  } else {
    const why = failed.map(({ name, problems }) => `${name}:\n${problems.map((line) => `  ${line}\n`).join("")}\n`);
    process.stdout.write(`Delegation tools on ${model}\n\n${table(verdicts)}\n\n${why.join("")}`);
    if (file !== null) process.stdout.write(`Written to ${relative(process.cwd(), file)}\n`);
    process.stdout.write(`${passed} passed, ${failed.length} failed\n`);
  }
  return failed.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError || error instanceof ErrandError)) throw error;
  process.stderr.write(`eval: ${error.message.split("\n").join(" ")}\n`);
  process.exitCode = 2;
}
