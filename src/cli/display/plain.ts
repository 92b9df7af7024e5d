/**
 * Lines for a log: one for each change of state on standard error, and on standard output the answer, so that
 * `errand run … > answer.txt` holds the answer alone.
 */

import { createColours } from "../text/colours.ts";
import type { Host } from "../host.ts";
import { elapsedLabel, countLabel, tokensLabel } from "../text/amounts.ts";
import { terminalLine, terminalText } from "../text/terminal-text.ts";
import type { Change } from "../tree/change.ts";
import type { Display, Setting } from "./display.ts";
import { endingLines } from "./ending-lines.ts";

export function createPlainDisplay(host: Host): Display {
  const colours = createColours(host.colours.err);
  let setting: Setting = { model: "", because: "", store: "", recovered: 0 };
  const line = (text: string): void => host.err(`${text}\n`);
  return {
    begin(given) {
      setting = given;
      line(`model ${given.model} (because ${given.because}), store ${given.store}`);
      if (given.recovered > 0)
        line(`going on with ${countLabel(given.recovered, "unfinished tree")} of an earlier process`);
    },
    changed: (_model, changes) => changeLines(changes).forEach(line),
    said(said, final) {
      if (!final) line(`${terminalLine(said.name)}: ${terminalText(said.text).trim()}`);
    },
    draining: (runs) => line(`waiting for ${countLabel(runs, "open run")}`),
    notice: line,
    ask(text) {
      if (text !== null) line(`${terminalLine(text)} [y/n]`);
    },
    answer(text) {
      if (text === null) line("(the agent decided to say nothing)");
      else host.out(`${terminalText(text).trimEnd()}\n`);
    },
    end: (ending) => endingLines(ending, setting, colours).forEach(line),
    close: () => undefined,
  };
}

/** One line for each change of state. Tools are too many to be told one by one. */
export function changeLines(changes: readonly Change[]): string[] {
  const started = new Set(changes.flatMap((change) => (change.type === "run-started" ? [change.run] : [])));
  return changes.flatMap((change) => {
    // A run that starts in the step that made it was never seen waiting.
    if (change.type === "run-created" && started.has(change.run)) return [];
    const text = changeLine(change);
    return text === null ? [] : [terminalLine(text)];
  });
}

function changeLine(change: Change): string | null {
  switch (change.type) {
    case "agent-opened":
      return `${change.definition} opened, tree ${change.tree}`;
    case "run-created":
      return `${change.definition} "${change.name}" queued`;
    case "run-started":
      return `${change.definition} "${change.name}" started`;
    case "run-state-changed":
      return `${change.definition} "${change.name}" ${STATES[change.state]}`;
    case "run-ended": {
      const reason = change.reason === null ? "" : `, ${change.reason}`;
      const tokens = change.tokens === 0 ? "" : `, ${tokensLabel(change.tokens)} tokens`;
      const spent = `${elapsedLabel(change.elapsedMs)}${tokens}`;
      return `${change.definition} "${change.name}" ended: ${change.status}${reason} (${spent})`;
    }
    case "turn-ended":
      return change.outcome === "done"
        ? null
        : `${change.name}: turn ${change.outcome} (${change.reason ?? change.outcome})`;
    case "model-retry":
      return `${change.name}: the model failed, attempt ${change.attempt} in ${elapsedLabel(change.retryAt - change.at)}`;
    case "question-asked":
      return `${change.name} asks: ${change.tool} ${JSON.stringify(change.input)}?`;
    case "question-answered":
      return `${change.name}: ${change.allow ? "allowed" : "refused"}`;
    case "turn-started":
    case "tool-started":
    case "tool-ended":
      return null;
  }
}

const STATES = {
  queued: "queued",
  running: "goes on",
  waiting: "waits for its own runs",
  needs_input: "needs input",
  ended: "ended",
} as const;
