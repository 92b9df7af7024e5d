/** A step of the demonstration as a line: when, what, and which child. */

import { elapsedLabel } from "../../../view/amounts.ts";
import type { Colours } from "../../text/colours.ts";
import { fitWidth } from "../../text/display-width.ts";
import { terminalLine } from "../../text/terminal-text.ts";
import type { Step } from "./step.ts";

const TIME_WIDTH = 6;
const WORD_WIDTH = 8;
const GAP = 2;

interface Words {
  readonly word: string;
  readonly text: string;
  readonly paint: (text: string) => string;
}

/** Cut to `columns`, unless they are null. */
export function stepLine(step: Step, elapsedMs: number, colours: Colours, columns: number | null): string {
  const { word, text, paint } = wordsOf(step, colours);
  const time = colours.dim(elapsedLabel(elapsedMs).padStart(TIME_WIDTH));
  const line = terminalLine(text);
  const shown = columns === null ? line : fitWidth(line, Math.max(1, columns - TIME_WIDTH - WORD_WIDTH - 2 * GAP));
  return `${time}  ${paint(word.padEnd(WORD_WIDTH))}  ${shown}`;
}

function wordsOf(step: Step, { green, cyan, yellow, red, bold }: Colours): Words {
  switch (step.type) {
    case "process-started":
      return { word: "process", text: `${step.pid} starts: errand ${step.args[0]}`, paint: bold };
    case "task-given":
      return { word: "task", text: step.text, paint: bold };
    case "spawned":
      return { word: "spawned", text: `child "${step.name}"`, paint: cyan };
    case "ended": {
      const how = step.status === "ok" ? "" : `: ${step.status}`;
      return { word: "ended", text: `child "${step.name}"${how}, after ${elapsedLabel(step.took)}`, paint: green };
    }
    case "process-killed": {
      const state = `${step.ended} ended, ${step.open} at work`;
      return { word: "KILLED", text: `process ${step.pid}, by SIGKILL, at row ${step.row}: ${state}`, paint: red };
    }
    case "calls-repeated": {
      const calls =
        step.calls === 1
          ? "a call that died with its process is"
          : `${step.calls} calls that died with their process are`;
      return { word: "again", text: `${calls} made once more`, paint: bold };
    }
    case "nudged":
      return { word: "nudged", text: `child "${step.name}" forgot to report, and is asked to`, paint: yellow };
    case "told":
      return { word: "told", text: `${step.name} hears of ${step.runs} ended children, in one message`, paint: green };
  }
}
