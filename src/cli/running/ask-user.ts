/**
 * Puts the questions of trees to the user at the keyboard of a command that is at work, and takes the lines that they
 * type.
 */

import type { GivenAnswer } from "../../runtime/errand.ts";
import type { Display } from "../display/display.ts";
import type { Host, Key, Keys, Off } from "../host.ts";
import { createQuestionQueue, type QuestionQueue } from "../questions/question-queue.ts";
import { keepProjectRule } from "../settings/project-rules.ts";
import { terminalText } from "../text/terminal-text.ts";

export type Asker = Pick<QuestionQueue, "update" | "close">;

export function createAsker(host: Host, keys: Keys, answer: (question: string, given: GivenAnswer) => void): Asker {
  let typed = "";
  let off: Off | null = null;

  const questions = createQuestionQueue({
    host,
    answer,
    allowInProject: (rule, display: Display) => void keepProjectRule(host, rule).then(display.notice),
    asking(asking) {
      off?.();
      typed = "";
      // Listens only during a question. Keys that were typed before it arrive now, too early to be an answer.
      off = asking ? keys.listenForEditing(pressed) : null;
    },
  });

  function pressed({ name, text, ctrl, meta }: Key): void {
    if (questions.state !== "open") return;
    if (name === "return" || name === "enter") {
      const line = typed;
      typed = "";
      if (!questions.enter(line)) questions.showTyped("");
      return;
    }
    if (name === "backspace") typed = [...typed].slice(0, -1).join("");
    else if (!ctrl && !meta && name !== "paste" && name !== "tab" && terminalText(text) === text) typed += text;
    questions.showTyped(typed);
  }

  return questions;
}
