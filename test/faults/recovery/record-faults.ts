/** Writes what was measured into the table of faults in docs/reliability.md, between its marks. */

import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import type { FaultName } from "./faults.ts";
import type { Measured } from "./measure.ts";
import { WORDS } from "./fault-words.ts";

/** The variable of the environment that asks for it. */
export const RECORD_FAULTS = "ERRAND_RECORD_FAULTS";

const DOCUMENT = fileURLToPath(new URL("../../../docs/reliability.md", import.meta.url));
const MARKS = /(<!-- faults -->\n)[^]*?(<!-- \/faults -->)/;
const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

export type MeasuredFault = Measured & { readonly name: FaultName; readonly store: string };

/** Throws if one of the table's faults was not measured. */
export function recordFaults(measured: readonly MeasuredFault[], expected: number): void {
  if (measured.length !== expected) throw new Error("not every fault could be measured: nothing is recorded");
  const rows = Object.entries(WORDS).map(([name, { fault, sees, recovers }]) => {
    const mine = measured.filter((one) => one.name === name);
    return `| ${[fault, sees + noticesOf(mine), recovers, timesOf(mine)].join(" | ")} |`;
  });
  const table = [
    "| fault | what the user sees | how it recovers | work goes on after |",
    "|---|---|---|---|",
    ...rows,
    "",
    summary(measured),
  ].join("\n");
  const text = readFileSync(DOCUMENT, "utf8");
  if (!MARKS.test(text)) throw new Error("docs/reliability.md has no place for the faults");
  writeFileSync(
    DOCUMENT,
    text.replace(MARKS, (_, open: string, close: string) => `${open}${table}\n${close}`),
  );
}

/** What people were told, each once, with its remedy. */
function noticesOf(measured: readonly MeasuredFault[]): string {
  const notices = new Set<string>();
  for (const { told } of measured) {
    for (const { code, remedy, over } of told) {
      if (!over) notices.add(`\`${code}\`: "${remedy.replaceAll(ID, "TREE").replaceAll("|", "\\|")}"`);
    }
  }
  return [...notices].map((notice) => ` ${notice}`).join("");
}

function timesOf(measured: readonly MeasuredFault[]): string {
  const times = measured.toSorted((one, other) => other.store.localeCompare(one.store));
  return times.map(({ store, resumedMs }) => `${store} ${seconds(resumedMs)}`).join(", ");
}

function seconds(milliseconds: number): string {
  return milliseconds < 50 ? "< 0.1 s" : `${(milliseconds / 1_000).toFixed(1)} s`;
}

function summary(measured: readonly MeasuredFault[]): string {
  const most = (levels: readonly number[]): string => `${Math.max(0, Math.round(100 * (Math.max(...levels) - 1)))} %`;
  const heap = most(measured.map((one) => one.heap));
  const descriptors = most(measured.map((one) => one.descriptors));
  const findings = measured.flatMap((one) => one.findings).length;
  const day = new Date().toISOString().slice(0, 10);
  const load = Math.round(loadavg()[0] ?? 0);
  return (
    `Measured on ${day} by \`npm run faults -- --record\`, on ${availableParallelism()} cores with a load average of ${load}. Afterwards the heap was at most ${heap} and the number of descriptors at most ` +
    `${descriptors} above the level before. Results that were lost or doubled: ${findings}.`
  );
}
