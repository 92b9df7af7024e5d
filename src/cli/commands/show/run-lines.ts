/** The runs of a tree as a picture: one line a run, each under its parent. */

import type { StoredRun } from "../../../contracts/store.ts";
import { costLabel, elapsedLabel, tokensLabel } from "../../../view/amounts.ts";
import type { Colours } from "../../text/colours.ts";
import { fitWidth, tableLines } from "../../text/display-width.ts";
import { runShort } from "../../store/short-ids.ts";
import { statusText } from "../../store/state-words.ts";
import { terminalLine } from "../../text/terminal-text.ts";

const NAME_WIDTH = 44;

export interface RunPicture {
  /** The name of the root's definition. */
  readonly root: string;
  /** The short id of the tree. */
  readonly short: string;
  readonly runs: readonly StoredRun[];
  readonly now: number;
  readonly colours: Colours;
  /** The columns of the terminal. */
  readonly width?: number | undefined;
}

export function runLines({ root, short, runs, now, colours, width }: RunPicture): string[] {
  const rows: string[][] = [];
  const visit = (parent: number, below: string): void => {
    const children = runs.filter((run) => run.parent === parent);
    for (const [index, run] of children.entries()) {
      const last = index === children.length - 1;
      rows.push(cells(run, short, `${below}${last ? "└─ " : "├─ "}`, now));
      visit(run.number, `${below}${last ? "   " : "│  "}`);
    }
  };
  visit(0, "");
  const lines = width === undefined ? tableLines(rows) : tableLines(rows).map((line) => fitWidth(line, width));
  return [colours.bold(terminalLine(root)), ...lines];
}

function cells(run: StoredRun, short: string, branch: string, now: number): string[] {
  const name = terminalLine(`${run.definition} "${run.name}"`);
  const elapsed = run.startedAt === null ? "" : elapsedLabel((run.endedAt ?? now) - run.startedAt);
  return [
    runShort(short, run.number),
    fitWidth(`${branch}${mark(run)} ${name}`, NAME_WIDTH),
    statusText(run),
    run.report === null ? "" : `report: ${run.report}${run.nudged ? ", nudged" : ""}`,
    elapsed,
    run.tokens === 0 ? "" : `${tokensLabel(run.tokens)} tok`,
    run.cost === 0 ? "" : costLabel(run.cost),
  ];
}

function mark({ state, status }: StoredRun): string {
  if (state === "queued") return "·";
  if (state === "needs_input") return "?";
  if (status === null) return "*";
  if (status === "ok") return "✓";
  return status === "cancelled" || status === "interrupted" ? "–" : "✗";
}
