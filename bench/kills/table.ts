/** The results of the kill benchmark, and the tables that pages show. The benchmark writes them. */

import type { Ending, Verdict } from "./judge.ts";

/** One kill and its effects. */
export interface KillResult extends Verdict {
  /** The last moment before the kill. */
  readonly after: string;
  readonly error: string | null;
}

export interface KillRow {
  readonly title: string;
  readonly mode: "awaited" | "background";
  /** How it stores its state and how it was started again. */
  readonly how: string;
  /** What its documentation does not claim. Rows that share it state it once. */
  readonly notClaimed?: string;
  readonly kills: readonly KillResult[];
}

export interface KillResults {
  readonly date: string;
  readonly node: string;
  readonly versions: readonly string[];
  readonly rows: readonly KillRow[];
}

const COLUMNS = [
  "right answer",
  "outcome unknown",
  "result lost",
  "restart refused",
  "result doubled",
  "side effect twice",
  "finished calls paid again (kills)",
];

/** For the README: the table, and what no documentation claims. */
export function killsSummary(results: KillResults): string {
  const notClaimed = results.rows.flatMap((row) => row.notClaimed ?? []);
  return [table(results), `What is not claimed: ${notClaimed.join(" ")}`, stamp(results)].join("\n\n");
}

/** For docs/reliability.md: the same table, and the setup of each row. */
export function killsReport(results: KillResults): string {
  const setups = results.rows.map(({ title, mode, how }) => `- ${title}, ${mode}: ${how}`).join("\n");
  const notClaimed = results.rows.flatMap((row) => (row.notClaimed === undefined ? [] : [`- ${row.notClaimed}`]));
  const claims = `What is not claimed:\n\n${notClaimed.join("\n")}`;
  return [table(results), `How each was set up and started again:\n\n${setups}`, claims, stamp(results)].join("\n\n");
}

/** One line for each row and each kill, so that two measurements can be compared. */
export function killsFile(results: KillResults): string {
  return `${JSON.stringify(results).replaceAll(/\{"(?:title|after)"/g, "\n$&")}\n`;
}

function table({ rows }: KillResults): string {
  const lines = rows.map(({ title, mode, kills }) => `| ${[title, mode, ...cellsOf(kills)].join(" | ")} |`);
  return [`| | child | ${COLUMNS.join(" | ")} |`, `|---|---|${COLUMNS.map(() => "---:|").join("")}`, ...lines].join(
    "\n",
  );
}

const stamp = ({ date, node, versions }: KillResults): string =>
  `Measured on ${date}, Node.js ${node}; ${versions.join(", ")}.`;

function cellsOf(kills: readonly KillResult[]): readonly string[] {
  const count = (which: (kill: KillResult) => boolean): string => `${kills.filter(which).length}`;
  const ended = (ending: Ending): string => count((kill) => kill.ending === ending);
  const paid = kills.reduce((sum, kill) => sum + kill.paidAgain, 0);
  return [
    `${ended("right")} of ${kills.length}`,
    ended("unknown"),
    ended("lost"),
    ended("refused"),
    count((kill) => kill.resultDoubled),
    count((kill) => kill.effectTwice),
    `${paid} (${count((kill) => kill.paidAgain > 0)})`,
  ];
}
