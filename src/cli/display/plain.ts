/**
 * Lines for a log: one for each change of state on standard error, commentary among them, and on standard output the answer (rule D13),
 * so that `errand run … > answer.txt` holds the answer alone.
 */

import { createColours } from "../text/colours.ts";
import { answerOf } from "../../core/journal/spoken.ts";
import type { Host } from "../host.ts";
import { elapsedLabel, countLabel, tokensLabel } from "../../view/amounts.ts";
import { endedWords, errorWords, terminalLine, terminalText } from "../text/terminal-text.ts";
import type { ReadableEvent } from "../../view/readable-event.ts";
import type { Display, Said, Setting } from "./display.ts";
import { endingLines } from "./ending-lines.ts";

/** Standard output, which the displays of several trees share. */
export interface AnswerOutput {
  /** Writes a part of an answer, with a blank line before all but the first. */
  part(text: string): void;
  /** What comes next is another answer, which begins without a blank line. */
  restart(): void;
}

export function createAnswerOutput(host: Pick<Host, "out">): AnswerOutput {
  let between = "";
  return {
    part(text) {
      host.out(`${between}${terminalText(text)}\n`);
      between = "\n";
    },
    restart() {
      between = "";
    },
  };
}

/**
 * `held`: an answer is written when it is whole, so that those of several trees do not mix and a program that talks with an agent reads
 * one as one. Else each part is written when it is said.
 */
export function createPlainDisplay(
  host: Host,
  how: { readonly output: AnswerOutput; readonly held: boolean } = { output: createAnswerOutput(host), held: false },
): Display {
  const colours = createColours(host.colours.err);
  let setting: Setting = { model: "", because: "", store: "", recovered: 0 };
  let parts: Said[] = [];
  const line = (text: string): void => host.err(`${text}\n`);

  function flush(): void {
    const answer = answerOf(parts);
    parts = [];
    if (answer !== null) how.output.part(answer);
  }

  return {
    begin(given) {
      setting = given;
      line(`model ${given.model} (because ${given.because}), store ${given.store}`);
      if (given.recovered > 0)
        line(`going on with ${countLabel(given.recovered, "unfinished tree")} of an earlier process`);
    },
    changed: (_model, changes) => changeLines(changes).forEach(line),
    said(said) {
      if (said.kind === "commentary") return line(`${terminalLine(said.name)}: ${terminalText(said.text).trim()}`);
      parts.push(said);
      if (!how.held) flush();
    },
    draining: (runs) => line(`waiting for ${countLabel(runs, "open run")}`),
    notice: line,
    ask(question) {
      if (typeof question?.text === "string") line(question.text);
      if (question?.typed === undefined) question?.choices.forEach(line);
    },
    answer(text) {
      if (text === null) line("(the agent decided to say nothing)");
      flush();
    },
    end(ending) {
      flush();
      endingLines(ending, setting, colours).forEach(line);
    },
    close: () => undefined,
  };
}

/** One line for each change of state. Tools are too many to be told one by one. */
export function changeLines(changes: readonly ReadableEvent[]): string[] {
  const started = new Set(changes.flatMap((change) => (change.type === "run-started" ? [change.run] : [])));
  return changes.flatMap((change) => {
    // A run that starts in the step that made it was never seen waiting.
    if (change.type === "run-created" && started.has(change.run)) return [];
    const text = changeLine(change);
    return text === null ? [] : [terminalLine(text)];
  });
}

function changeLine(change: ReadableEvent): string | null {
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
      const tokens = change.tokens === 0 ? "" : `, ${tokensLabel(change.tokens)} tokens`;
      const spent = `${elapsedLabel(change.elapsedMs)}${tokens}`;
      const how = endedWords(change.status, change.reason, change.error);
      return `${change.definition} "${change.name}" ended: ${how} (${spent})`;
    }
    case "turn-ended":
      return change.outcome === "done"
        ? null
        : `${change.name}: turn ${change.outcome} (${change.reason ?? change.outcome})`;
    case "model-retry":
      return `${change.name}: the model failed, attempt ${change.attempt} in ${elapsedLabel(change.retryAt - change.at)}${
        change.error === null ? "" : `: ${errorWords(change.error)}`
      }`;
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
