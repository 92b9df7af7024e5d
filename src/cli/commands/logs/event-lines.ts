/**
 * The rows of a journal as lines for people: time, row, fact. Keeps what it has read of the tree, for the names of
 * agents.
 */

import type { TreeEvent } from "../../../view/tree-event.ts";
import type { Colours } from "../../text/colours.ts";
import { clockLabel } from "../../../view/amounts.ts";
import { foldEvent } from "../../../view/fold-event.ts";
import { createTreeModel } from "../../../view/tree-model.ts";
import { factText } from "./fact-line.ts";

const SEQ_WIDTH = 5;
const TYPE_WIDTH = 19;

/** Takes a tree's events in order; returns the lines of each. */
export function createEventLines(colours: Colours): (event: TreeEvent) => string[] {
  const model = createTreeModel();
  return (event) => {
    const [input] = event.facts;
    const known = input !== undefined && "effect" in input ? model.effects.get(input.effect) : undefined;
    const effect = known === undefined ? undefined : { ...known };
    foldEvent(model, event);
    const rejected = event.rejected === null ? "" : ` [rejected: ${event.rejected}]`;
    return event.facts.map((fact, index) => {
      const head = index === 0 ? `${clockLabel(event.at)} ${String(event.seq).padStart(SEQ_WIDTH)}` : "";
      const place = head.padEnd(clockLabel(0).length + 1 + SEQ_WIDTH);
      const text = factText(fact, { model, texts: event.texts, effect });
      return `${colours.dim(place)}  ${fact.type.padEnd(TYPE_WIDTH)}  ${text}${index === 0 ? rejected : ""}`.trimEnd();
    });
  };
}
