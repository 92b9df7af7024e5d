/** Writes the measurements as the table of the page. */

import { type Column, COLUMNS, type Row } from "./plan.ts";
import type { Outcome } from "./rounds.ts";

export type Results = ReadonlyMap<Row, ReadonlyMap<Column, Outcome>>;

/** The row that each column compares the others with. */
const COMPARED: Readonly<Record<Column, { readonly contender: string; readonly storage: Row["storage"] }>> = {
  w1: { contender: "errand", storage: "memory" },
  w2: { contender: "errand", storage: "memory" },
  w3: { contender: "errand", storage: "memory" },
  w4: { contender: "errand", storage: "full" },
  bytes: { contender: "errand", storage: "full" },
  bytesInThread: { contender: "errand", storage: "full" },
};

export function tableOf(results: Results): string {
  const columns = Object.keys(COLUMNS) as Column[];
  const lines = [
    `| | ${columns.map((column) => COLUMNS[column]).join(" | ")} |`,
    `|---|${columns.map(() => "---:|").join("")}`,
  ];
  const failures: string[] = [];
  for (const [row, cells] of results) {
    const texts = columns.map((column) => {
      const outcome = cells.get(column);
      if (outcome === undefined) return "–";
      if (!("failed" in outcome)) return cellOf(column, outcome, ratioOf(results, row, column));
      failures.push(`- ${row.title}, ${COLUMNS[column]}: ${outcome.failed}`);
      return `failed [${failures.length}]`;
    });
    lines.push(`| ${row.title} | ${texts.join(" | ")} |`);
  }
  return [...lines, ...(failures.length === 0 ? [] : ["", "What failed:", "", ...failures])].join("\n");
}

/** This figure divided by Errand's. */
function ratioOf(results: Results, row: Row, column: Column): number | null {
  const compared = COMPARED[column];
  for (const [other, cells] of results) {
    if (other.contender !== compared.contender || other.storage !== compared.storage) continue;
    const theirs = results.get(row)?.get(column);
    const ours = cells.get(column);
    if (other === row || theirs === undefined || ours === undefined || "failed" in theirs || "failed" in ours)
      return null;
    return theirs.value / ours.value;
  }
  return null;
}

function cellOf(
  column: Column,
  { value, delegations, peakMb }: Exclude<Outcome, { failed: string }>,
  ratio: number | null,
): string {
  const times = ratio === null || column === "w3" ? "" : ` · ${short(ratio)}×`;
  switch (column) {
    case "w2":
      return `${whole(value)} (${whole(peakMb)})${times}`;
    case "w3":
      return `${short(value)}×${delegations % 100 === 0 ? "" : ` after ${whole(delegations)}`}`;
    default:
      return `${whole(value)}${times}`;
  }
}

const whole = (value: number): string => Math.round(value).toLocaleString("en-GB");
const short = (value: number): string =>
  value >= 10 ? whole(value) : value >= 1 ? value.toFixed(1) : value.toFixed(2);
