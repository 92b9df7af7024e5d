/** What is said at the end of a run, after the answer: how it went, what is kept where, and what could come next. */

import { offlineIs, treeAtRest, treeTotals } from "../../view/tree-model.ts";
import type { Colours } from "../text/colours.ts";
import { countLabel } from "../../view/amounts.ts";
import { totalsLine } from "./tree-lines.ts";
import type { Ending, WorkSetup } from "./display.ts";

export function endingLines(ending: Ending, setup: WorkSetup, colours: Colours): string[] {
  const { model, now, outcome } = ending;
  const lines: string[] = [];
  if (model.tree === "") return lines;
  if (outcome !== "done") lines.push(keptLine(ending, setup));
  lines.push(colours.dim(`${wordFor(outcome)} ${totalsLine(model, now)}`));
  if (setup.store !== "memory") lines.push(colours.dim(`tree ${model.tree} in ${setup.store}`));
  if (outcome === "done" && offlineIs(setup.model)) lines.push(...offlineHint(setup.model).map(colours.dim));
  return lines;
}

/** What is left of work that was stopped. */
function keptLine({ model, now, outcome }: Ending, { store }: WorkSetup): string {
  const { runs, ok } = treeTotals(model, now);
  if (store === "memory") return "kept: nothing, because the store was in memory";
  const ended =
    runs === 0 ? "the conversation" : `the conversation and ${countLabel(runs, "run")}, of which ${ok} ended ok`;
  const later =
    outcome === "terminated" && !treeAtRest(model)
      ? "; the next errand command on this store goes on with the rest"
      : "";
  return `kept: ${ended}${later}`;
}

function wordFor(outcome: Ending["outcome"]): string {
  if (outcome === "done") return "done in";
  return outcome === "parked" ? "waits for an answer after" : `${outcome} after`;
}

function offlineHint(model: string): string[] {
  return [
    `${model} needs no key and understands no language. With a real model (its key in the environment):`,
    '  errand run --model anthropic/… "your task"   or   npm start -- --model anthropic/… "your task"',
  ];
}
