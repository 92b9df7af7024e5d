/** What happens in a host's run, in a line. The words of models and tools are cut, and stand on one line. */

import { codePointsPrefix, statusLabel } from "../../core/text/index.ts";
import { agentActivity } from "../../view/activity.ts";
import type { ReadableEvent, RunEnded } from "../../view/readable-event.ts";
import { openRuns, type TreeModel } from "../../view/tree-model.ts";

const LONGEST_LINE = 200;

/** Null for what a reader need not be told. */
export function progressLine(event: ReadableEvent): string | null {
  switch (event.type) {
    case "run-created":
      return line(`${event.name}: given to ${event.definition}`);
    case "run-started":
      return line(`${event.name}: started`);
    case "run-reported":
      return line(`${event.name}: reported`);
    case "run-ended":
      return line(`${event.name}: ${endLabel(event)}`);
    case "tool-started":
      return line(`${event.name}: ${event.tool} ${event.about}`);
    case "model-retry":
      return line(`${event.name}: the model failed; attempt ${event.attempt} follows`);
    case "question-asked":
      return line(`${event.name}: asks whether it may use ${event.tool}`);
    default:
      return null;
  }
}

function endLabel({ status, error }: RunEnded): string {
  return statusLabel({ status, ...(error === null ? {} : { error }) });
}

/** What the open runs of a tree do; null if there is none. */
export function activityOf(model: TreeModel): string | null {
  const agents = openRuns(model);
  if (agents.length === 0) return null;
  return line(agents.map((agent) => `${agent.name}: ${agentActivity(agent, model, model.at)}`).join("; "));
}

function line(words: string): string {
  const plain = words.replace(/\s+/g, " ").trim();
  const start = codePointsPrefix(plain, LONGEST_LINE);
  return start.length < plain.length ? `${start}…` : start;
}
