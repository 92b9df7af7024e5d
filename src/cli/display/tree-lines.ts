/**
 * The picture of a tree: from the model to lines, one for each agent.
 *
 * Invariants:
 *  1. It is a pure function of what it is given.
 *  2. No line is wider than `width`; columns that find no room are left out, the least telling first.
 *  3. No text of a model, a tool or a child gets in but through `terminalLine`.
 */

import type { Colours } from "../text/colours.ts";
import { costLabel, countLabel, elapsedLabel, tokensLabel } from "../../view/amounts.ts";
import { displayWidth, padWidth, fitWidth } from "../text/display-width.ts";
import { terminalLine } from "../text/terminal-text.ts";
import { agentActivity, agentMood, type Mood } from "../../view/activity.ts";
import { type AgentModel, type TreeModel, treeTotals } from "../../view/tree-model.ts";

export interface TreeView {
  /** Columns that a line may take. */
  readonly width: number;
  /** Lines that the picture may take; without it, as many as there are agents. */
  readonly height?: number;
  /** The tree's time. */
  readonly now: number;
  /** Which picture of the spinner is due. */
  readonly frame: number;
  readonly colours: Colours;
}

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;
const MARKS: Readonly<Record<Exclude<Mood, "active">, string>> = {
  queued: "·",
  asking: "?",
  good: "✓",
  bad: "✗",
  stopped: "–",
};

/** Columns on the right, from the first to be left out to the last, with the width under which that happens. */
const ROOM_FOR_COST = 56;
const ROOM_FOR_TOKENS = 44;
const ROOM_FOR_ELAPSED = 28;
/** Wider pictures only tear the columns apart. */
const WIDEST = 110;
const NARROWEST_ACTIVITY = 8;
const NARROWEST_NAME = 8;
/** What an activity gets at least of the room that a long name would take, where there is room. */
const ACTIVITY_SHARE = 0.4;

interface Row {
  readonly branch: string;
  readonly mood: Mood;
  readonly name: string;
  readonly activity: string;
  readonly elapsed: string;
  readonly tokens: string;
  readonly cost: string;
}

export function treeLines(model: TreeModel, view: TreeView): string[] {
  const { rows, left } = visibleRows(model, view);
  const width = Math.min(view.width, WIDEST);
  const columns = columnsFor(rows, width);
  const lines = rows.map((row) => paint(row, columns, view));
  if (left > 0) lines.push(view.colours.dim(fitWidth(`   … and ${left} more`, width)));
  return lines;
}

/** Every agent, depth first; where they are too many, those that have ended go first, then the last ones. */
function visibleRows(model: TreeModel, view: TreeView): { readonly rows: Row[]; readonly left: number } {
  const all = [...model.agents.values()];
  const height = view.height ?? all.length;
  if (all.length <= height) return { rows: rowsOf(model, all, view), left: 0 };
  const room = Math.max(1, height - 1);
  const needed = new Set<number>();
  for (const wanted of [(agent: AgentModel) => agent.run?.state !== "ended", () => true]) {
    for (const agent of all) if (needed.size < room && wanted(agent)) needed.add(agent.number);
  }
  const shown = all.filter((agent) => needed.has(agent.number));
  return { rows: rowsOf(model, shown, view), left: all.length - shown.length };
}

function rowsOf(model: TreeModel, agents: readonly AgentModel[], view: TreeView): Row[] {
  const rows: Row[] = [];
  const shown = new Set(agents.map((agent) => agent.number));
  /** A child whose parent is not shown hangs on the root. */
  const parentOf = (agent: AgentModel): number | null =>
    agent.parent === null || shown.has(agent.parent) ? agent.parent : 0;

  const visit = (agent: AgentModel, branch: string, below: string): void => {
    rows.push(rowOf(model, agent, branch, view));
    const children = agents.filter((child) => child.number !== 0 && parentOf(child) === agent.number);
    for (const [index, child] of children.entries()) {
      const last = index === children.length - 1;
      visit(child, `${below}${last ? "└─ " : "├─ "}`, `${below}${last ? "   " : "│  "}`);
    }
  };
  const root = agents.find((agent) => agent.number === 0);
  if (root !== undefined) visit(root, "", "");
  return rows;
}

function rowOf(model: TreeModel, agent: AgentModel, branch: string, view: TreeView): Row {
  const mood = agentMood(agent, model);
  const until = mood === "active" ? view.now : (agent.endedAt ?? view.now);
  return {
    branch,
    mood,
    name: terminalLine(agent.name),
    activity: terminalLine(agentActivity(agent, model, view.now)),
    elapsed: agent.startedAt === null ? "" : elapsedLabel(until - agent.startedAt),
    tokens: agent.tokens === 0 ? "" : `${tokensLabel(agent.tokens)} tok`,
    cost: agent.cost === 0 ? "" : costLabel(agent.cost),
  };
}

interface Columns {
  readonly name: number;
  readonly activity: number;
  readonly elapsed: number;
  readonly tokens: number;
  readonly cost: number;
}

const GAP = 2;
/** The mark and the space after it, which are part of the first column. */
const MARK = 2;
const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(displayWidth));

function columnsFor(rows: readonly Row[], width: number): Columns {
  const elapsed = width < ROOM_FOR_ELAPSED ? 0 : widest(rows.map((row) => row.elapsed));
  const tokens = width < ROOM_FOR_TOKENS ? 0 : widest(rows.map((row) => row.tokens));
  const cost = width < ROOM_FOR_COST ? 0 : widest(rows.map((row) => row.cost));
  const right = [elapsed, tokens, cost].reduce((sum, column) => sum + (column === 0 ? 0 : column + GAP), 0);
  const left = Math.max(1, width - right);
  const name = widest(rows.map((row) => row.branch + row.name)) + MARK;
  const wanted = widest(rows.map((row) => row.activity));
  const share = Math.max(NARROWEST_ACTIVITY, Math.min(wanted, Math.floor(left * ACTIVITY_SHARE)));
  const room = left - share - GAP;
  if (room < NARROWEST_NAME) return { name: left, activity: 0, elapsed, tokens, cost };
  const taken = Math.min(name, room);
  return { name: taken, activity: left - taken - GAP, elapsed, tokens, cost };
}

function paint(row: Row, columns: Columns, view: TreeView): string {
  const { dim } = view.colours;
  // Not even room for the mark and a letter.
  if (columns.name <= MARK) return markOf(row.mood, view);
  const branch = fitWidth(row.branch, columns.name - MARK - 1);
  const name = padWidth(row.name, columns.name - displayWidth(branch) - MARK);
  let line = `${dim(branch)}${markOf(row.mood, view)} ${named(row, name, view)}`;
  if (columns.activity > 0)
    line += `${" ".repeat(GAP)}${tinted(row.mood, padWidth(row.activity, columns.activity), view)}`;
  for (const column of ["elapsed", "tokens", "cost"] as const) {
    if (columns[column] > 0) line += dim(" ".repeat(GAP) + row[column].padStart(columns[column]));
  }
  return line;
}

function markOf(mood: Mood, view: TreeView): string {
  const mark = mood === "active" ? (SPINNER[view.frame % SPINNER.length] ?? "*") : MARKS[mood];
  return tinted(mood, mark, view);
}

function named(row: Row, name: string, view: TreeView): string {
  return row.branch === "" ? view.colours.bold(name) : name;
}

function tinted(mood: Mood, text: string, { colours }: TreeView): string {
  switch (mood) {
    case "active":
      return colours.cyan(text);
    case "asking":
      return colours.yellow(text);
    case "good":
      return colours.green(text);
    case "bad":
      return colours.red(text);
    case "queued":
    case "stopped":
      return colours.dim(text);
  }
}

/** One line about the whole tree. */
export function totalsLine(model: TreeModel, now: number): string {
  const { runs, ok, notOk, open, queued, tokens, cost, estimated, elapsedMs } = treeTotals(model, now);
  const parts = [elapsedLabel(elapsedMs)];
  if (open > 0) parts.push(`${runs - open} of ${countLabel(runs, "run")} ended`);
  else if (runs > 0)
    parts.push(notOk === 0 ? `${countLabel(runs, "run")} ok` : `${ok} of ${countLabel(runs, "run")} ok`);
  if (queued > 0) parts.push(`${queued} queued`);
  const about = estimated > 0 ? "~" : "";
  if (tokens > 0) parts.push(`${about}${tokensLabel(tokens)} tokens`);
  if (cost > 0) parts.push(`${about}${costLabel(cost)}`);
  return parts.join(" · ");
}
