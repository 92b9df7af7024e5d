/**
 * `npm run bench`: Errand and its peers side by side. Every measurement is a fresh process; rounds go over all of them in turn, so that what else
 * the machine does hits everybody alike; the median counts. Writes its table and chart into docs/ unless it was only a part or a quick look.
 *
 * Options: --rounds N (default 3), --only NAME (a contender; may be given again), --quick (small sizes, one round), --json,
 * --figures (what Errand promises of itself, instead of the comparison), --cost (model calls, tokens and bytes, instead of speed).
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { chartOf } from "./chart.ts";
import { costs, costTable } from "./cost.ts";
import { figureLines } from "./figures.ts";
import { type Column, COLUMNS, measurementOf, type Row, ROWS } from "./plan.ts";
import { measureApart, medianOf, type Outcome } from "./rounds.ts";
import { tableOf } from "./table.ts";
import { commandOptions } from "../test/support/command-options.ts";

const root = join(import.meta.dirname, "..");
const CONTENDERS = [...new Set(ROWS.map((row) => row.contender))];
const values = commandOptions(
  {
    name: "npm run bench --",
    does: "Runs Errand, its peers and hand-written floors side by side, and writes the tables of docs/performance.md.",
    examples: ["--figures", "--cost", "--quick --only errand --only pi"],
  },
  {
    rounds: { kind: "count", help: "How often all are run; the median counts. Default: 3, quick: 1." },
    only: { kind: "many", help: `Just this one of ${CONTENDERS.join(", ")}.` },
    quick: { kind: "flag", help: "Small sizes; nothing is written." },
    json: { kind: "flag", help: "The results as one line of JSON." },
    figures: { kind: "flag", help: "Measures what Errand promises of itself instead." },
    cost: { kind: "flag", help: "Counts model calls, tokens and bytes of a delegation instead." },
  },
);
const stranger = values.only.find((name) => !CONTENDERS.includes(name));
if (stranger !== undefined) {
  process.stderr.write(`errand: nobody here is called ${stranger}. There are ${CONTENDERS.join(", ")}.\n`);
  process.exit(2);
}
const rounds = values.rounds ?? (values.quick ? 1 : 3);
const rows = ROWS.filter((row) => values.only.length === 0 || values.only.includes(row.contender));

const machine = `Node.js ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? "?"}, load ${loadavg()[0]?.toFixed(1)}`;
const stamp = `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}; medians of ${rounds} rounds.`;
if (values.cost) await cost();
else if (values.figures) await figures();
else await compare();

async function figures(): Promise<void> {
  const lines = await figureLines(values.quick, rounds, (line) => void process.stderr.write(`${line}\n`));
  if (values.json) process.stdout.write(`${JSON.stringify({ machine, rounds, lines })}\n`);
  if (values.quick) return;
  const rows = lines.map(({ what, measured, toReach }) => `| ${what} | ${measured} | ${toReach} |`);
  writeBetween("figures", ["| what | measured | to reach |", "|---|---:|---:|", ...rows, "", stamp].join("\n"));
}

async function cost(): Promise<void> {
  const counted = await costs(values.only, (line) => void process.stderr.write(`${line}\n`));
  process.stdout.write(values.json ? `${JSON.stringify(counted)}\n` : `${costTable(counted)}\n`);
  if (values.only.length > 0 || values.quick) return;
  const counting = `Counted on ${new Date().toISOString().slice(0, 10)}, Node.js ${process.versions.node}.`;
  writeBetween("cost", `${costTable(counted)}\n\n${versions()}\n\n${counting}`);
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
    writeBetween("bench", `${tableOf(results)}\n\n${versions()}\n\n${stamp}`);
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

/** Replaces what stands between the page's marks of that name. */
function writeBetween(name: string, text: string): void {
  const file = join(root, "docs", "performance.md");
  const page = readFileSync(file, "utf8");
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no marks ${begin} and ${end}`);
  writeFileSync(file, `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`);
}
