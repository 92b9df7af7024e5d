/** One line about the whole tree. */

import { costLabel, countLabel, elapsedLabel, tokensLabel } from "../../view/amounts.ts";
import { treeTotals, type TreeModel } from "../../view/tree-model.ts";

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
