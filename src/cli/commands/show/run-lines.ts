/** The runs of a tree as a picture: one line a run, each under its parent. */

import type { StoredRun } from "../../../contracts/store.ts";
import { costLabel, elapsedLabel, tokensLabel } from "../../../view/amounts.ts";
import type { Colours } from "../../text/colours.ts";
import { fitWidth, tableLines } from "../../text/display-width.ts";
import { statusText } from "../../store/state-words.ts";
import { terminalLine } from "../../text/terminal-text.ts";

const NAME_WIDTH = 44;

export function runLines(root: string, runs: readonly StoredRun[], now: number, colours: Colours): string[] {
  const rows: string[][] = [];
  const visit = (parent: number, below: string): void => {
    const children = runs.filter((run) => run.parent === parent);
    for (const [index, run] of children.entries()) {
      const last = index === children.length - 1;
      rows.push(cells(run, `${below}${last ? "└─ " : "├─ "}`, now));
      visit(run.number, `${below}${last ? "   " : "│  "}`);
    }
  };
  visit(0, "");
  return [colours.bold(terminalLine(root)), ...tableLines(rows)];
}

function cells(run: StoredRun, branch: string, now: number): string[] {
  const name = terminalLine(`${run.definition} "${run.name}"`);
  const elapsed = run.startedAt === null ? "" : elapsedLabel((run.endedAt ?? now) - run.startedAt);
  return [
    fitWidth(`${branch}${mark(run)} ${name}`, NAME_WIDTH),
    statusText(run),
    run.report === null ? "" : `report: ${run.report}${run.nudged ? ", nudged" : ""}`,
    elapsed,
    run.tokens === 0 ? "" : `${tokensLabel(run.tokens)} tok`,
    run.cost === 0 ? "" : costLabel(run.cost),
    run.id,
  ];
}

function mark({ state, status }: StoredRun): string {
  if (state === "queued") return "·";
  if (state === "needs_input") return "?";
  if (status === null) return "*";
  if (status === "ok") return "✓";
  return status === "cancelled" || status === "interrupted" ? "–" : "✗";
}
