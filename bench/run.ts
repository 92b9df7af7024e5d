/**
 * `npm run bench`: Errand and its peers. Every measurement is a fresh process. Each round measures all of them once, so
 * that other load on the machine affects all equally; the median counts. A complete run writes its table and chart into
 * docs/ or bench/NOTES.md; a run with --only or --quick writes nothing.
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { chartOf } from "./chart.ts";
import { costs, costTable } from "./cost.ts";
import { figureLines } from "./figures.ts";
import { killAll } from "./kills.ts";
import { killsFile, killsReport, killsSummary } from "./kills/table.ts";
import { type Column, COLUMNS, measurementOf, type Row, ROWS } from "./plan.ts";
import { measureApart, medianOf, type Outcome } from "./rounds.ts";
import { tableOf } from "./table.ts";
import { commandOptions } from "../test/support/command-options.ts";

const root = join(import.meta.dirname, "..");
const NOTES = join("bench", "NOTES.md");
const CONTENDERS = [...new Set(ROWS.map((row) => row.contender))];
const values = commandOptions(
  {
    name: "npm run bench --",
    does: "Runs Errand, its peers and hand-written floors side by side; writes docs/performance.md and bench/NOTES.md.",
    examples: ["--figures", "--cost", "--kills", "--quick --only errand --only pi"],
  },
  {
    rounds: { kind: "count", help: "How often all are run; the median counts. Default: 3, quick: 1." },
    only: { kind: "many", help: `Just this one of ${CONTENDERS.join(", ")}.` },
    quick: { kind: "flag", help: "Small sizes; nothing is written." },
    json: { kind: "flag", help: "The results as one line of JSON." },
    figures: { kind: "flag", help: "Measures what Errand promises of itself instead." },
    cost: { kind: "flag", help: "Counts model calls, tokens and bytes of a delegation instead." },
    kills: {
      kind: "flag",
      help: "Kills each at 24 points of a delegation instead, and restarts it. Takes ten minutes.",
    },
  },
);
const unknown = values.only.find((name) => !CONTENDERS.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`errand: there is no contender "${unknown}". There are ${CONTENDERS.join(", ")}.\n`);
  process.exit(2);
}
const rounds = values.rounds ?? (values.quick ? 1 : 3);
const rows = ROWS.filter((row) => values.only.length === 0 || values.only.includes(row.contender));

const processors = `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? "?"}`;
const machine = `Node.js ${process.versions.node}, ${processors}, load ${loadavg()[0]?.toFixed(1)}`;
const stamp = `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}; medians of ${rounds} rounds.`;
if (values.kills) await kills();
else if (values.cost) await cost();
else if (values.figures) await figures();
else await compare();

async function figures(): Promise<void> {
  const lines = await figureLines(values.quick, rounds, (line) => void process.stderr.write(`${line}\n`));
  if (values.json) process.stdout.write(`${JSON.stringify({ machine, rounds, lines })}\n`);
  if (values.quick) return;
  const rows = lines.map(({ what, measured, toReach }) => `| ${what} | ${measured} | ${toReach} |`);
  writeBetween("figures", NOTES, ["| what | measured | to reach |", "|---|---:|---:|", ...rows, "", stamp].join("\n"));
}

async function cost(): Promise<void> {
  const counted = await costs(values.only, (line) => void process.stderr.write(`${line}\n`));
  process.stdout.write(values.json ? `${JSON.stringify(counted)}\n` : `${costTable(counted)}\n`);
  if (values.only.length > 0 || values.quick) return;
  const counting = `Counted on ${new Date().toISOString().slice(0, 10)}, Node.js ${process.versions.node}.`;
  writeBetween("cost", NOTES, `${costTable(counted)}\n\n${versions()}\n\n${counting}`);
}

async function kills(): Promise<void> {
  const results = await killAll(values.only, (line) => void process.stderr.write(`${line}\n`));
  process.stdout.write(values.json ? killsFile(results) : `${killsReport(results)}\n`);
  if (values.only.length > 0) return;
  const folder = join(root, "bench", "results");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "kills.json"), killsFile(results));
  writeBetween("kills", "README.md", killsSummary(results));
  writeBetween("kills", join("docs", "reliability.md"), killsReport(results));
}

async function compare(): Promise<void> {
  const measured = new Map<Row, Map<Column, Outcome[]>>(rows.map((row) => [row, new Map()]));
  const columns = Object.keys(COLUMNS) as Column[];
  for (let round = 1; round <= rounds; round += 1) {
    for (const column of columns) {
      for (const [row, cells] of measured) {
        if (!row.cells.includes(column)) continue;
        const outcome = await measureApart(measurementOf(row, column, values.quick));
        const text = "failed" in outcome ? `failed: ${outcome.failed}` : outcome.value.toPrecision(4);
        process.stderr.write(
          `round ${round}/${rounds}  ${COLUMNS[column].padEnd(18)} ${row.title.padEnd(36)} ${text}\n`,
        );
        cells.set(column, [...(cells.get(column) ?? []), outcome]);
      }
    }
  }

  const results = new Map(
    [...measured].map(([row, cells]) => [
      row,
      new Map(
        [...cells].flatMap(([column, outcomes]) => {
          const median = medianOf(outcomes);
          return median === undefined ? [] : [[column, median] as const];
        }),
      ),
    ]),
  );

  if (values.json) {
    const named = [...results].map(([row, cells]) => ({ title: row.title, ...Object.fromEntries(cells) }));
    process.stdout.write(`${JSON.stringify({ machine, rounds, results: named })}\n`);
  } else process.stdout.write(`${tableOf(results)}\n`);

  if (values.only.length === 0 && !values.quick) {
    writeFileSync(join(root, "docs", "performance.svg"), chartOf(results));
    writeBetween("bench", join("docs", "performance.md"), `${tableOf(results)}\n\n${versions()}\n\n${stamp}`);
  }
}

function versions(): string {
  const packages = [...new Set(ROWS.flatMap((row) => row.packages))];
  const named = packages.map((name) => {
    const file = join(import.meta.dirname, "node_modules", name, "package.json");
    const { version } = existsSync(file)
      ? (JSON.parse(readFileSync(file, "utf8")) as { version: string })
      : { version: "?" };
    return `${name} ${version}`;
  });
  return `Versions: ${named.join(", ")}.`;
}

/** Replaces the text between two marks in a page. */
function writeBetween(name: string, path: string, text: string): void {
  const file = join(root, path);
  const page = readFileSync(file, "utf8");
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no marks ${begin} and ${end}`);
  writeFileSync(file, `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`);
}
