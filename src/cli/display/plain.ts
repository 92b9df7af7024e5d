/**
 * Lines for a log: one for each change of state on standard error, commentary among them. The answer (rule D13) goes to
 * standard output, so that `errand run … > answer.txt` holds only the answer.
 */

import { createColours } from "../text/colours.ts";
import { CHILD_QUESTION, questionWords } from "../../core/text/prompts/question-text.ts";
import { answerOf } from "../../view/channel-message.ts";
import type { Host } from "../host.ts";
import { elapsedLabel, countLabel, tokensLabel } from "../../view/amounts.ts";
import { endedWords, errorWords, terminalLine, terminalText } from "../text/terminal-text.ts";
import type { ReadableEvent } from "../../view/readable-event.ts";
import { type Display, NO_SETUP, type UserMessage } from "./display.ts";
import { endingLines } from "./ending-lines.ts";

/** Writes a part of an answer. */
export type AnswerOutput = (text: string) => void;

/** Standard output, with a blank line between parts. The displays of several trees share it. */
export function createAnswerOutput({ out }: Pick<Host, "out">): AnswerOutput {
  let between = "";
  return (text) => {
    out(`${between}${terminalText(text)}\n`);
    between = "\n";
  };
}

export interface PlainDisplay extends Display {
  /** Writes the parts of the answer that are held back. */
  flush(): void;
}

/** `held`: parts of an answer are held back until it is whole, so that answers of several trees do not mix. */
export function createPlainDisplay(host: Host, output: AnswerOutput, held: boolean): PlainDisplay {
  const colours = createColours(host.colours.err);
  let setup = NO_SETUP;
  let parts: UserMessage[] = [];
  const line = (text: string): void => host.err(`${text}\n`);

  function flush(): void {
    const answer = answerOf(parts);
    parts = [];
    if (answer !== null) output(answer);
  }

  return {
    flush,
    begin(given) {
      setup = given;
      line(`model ${given.model} (because ${given.because}), store ${given.store}`);
      if (given.recovered > 0)
        line(`going on with ${countLabel(given.recovered, "unfinished tree")} of an earlier process`);
    },
    changed: (_model, changes) => changeLines(changes).forEach(line),
    message(message) {
      const { kind, name, text } = message;
      if (kind === "commentary") return line(`${terminalLine(name)}: ${terminalText(text).trim()}`);
      parts.push(message);
      if (!held) flush();
    },
    // A text that goes on with a tool call is no answer, and a failed call is repeated: a message is written when it is
    // whole.
    text: () => undefined,
    rest: () => undefined,
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
      endingLines(ending, setup, colours).forEach(line);
    },
    close: () => undefined,
  };
}

/** One line for each change of state. Tool calls are left out, because they are too many. */
export function changeLines(changes: readonly ReadableEvent[]): string[] {
  const started = new Set(changes.flatMap((change) => (change.type === "run-started" ? [change.run] : [])));
  return changes.flatMap((change) => {
    // A run that starts in the step that created it never waited in a queue.
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
      const how = endedWords(change.status, change.reason, change.error);
      return `${change.definition} "${change.name}" ended: ${how} (${elapsedLabel(change.elapsedMs)}${tokens})`;
    }
    case "turn-ended":
      if (change.outcome === "done") return null;
      return `${change.name}: turn ${change.outcome} (${change.reason ?? change.outcome})`;
    case "model-retry": {
      const wait = elapsedLabel(change.retryAt - change.at);
      const why = change.error === null ? "" : `: ${errorWords(change.error)}`;
      return `${change.name}: the model failed, attempt ${change.attempt} in ${wait}${why}`;
    }
    case "run-progress":
      return `${change.name}: ${change.text}`;
    case "question-asked":
      if (change.tool === CHILD_QUESTION) return questionWords(change.name, change.tool, change.input);
      return `${change.name} asks: ${change.tool} ${JSON.stringify(change.input)}?`;
    case "question-answered":
      return `${change.name}: ${change.allow ? "allowed" : "refused"}`;
    case "turn-started":
    case "run-reported":
    case "message":
    case "usage":
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
