/** Asks one question in a terminal, for a command that does nothing else meanwhile. */

import type { Host, Key, Keys } from "../host.ts";
import { createColours } from "../text/colours.ts";
import { terminalText } from "../text/terminal-text.ts";
import { openGate } from "./answer-gate.ts";
import { type Choice, choiceLines, readChoice } from "./answer-words.ts";
import { type QuestionView, viewLines } from "./question-view.ts";

export type Answered = Exclude<Choice, { readonly type: "details" }>;

/** Null: the user left without an answer. */
export function askOnce(host: Host, keys: Keys, view: QuestionView): Promise<Answered | null> {
  const colours = createColours(host.colours.out);
  const { promise, resolve } = Promise.withResolvers<Answered | null>();
  let typed = "";
  let open = false;

  const prompt = (): void => host.out(`${choiceLines(view).map(colours.yellow).join("\n")}\n› `);

  function entered(): void {
    const choice = readChoice(typed, view);
    typed = "";
    host.out("\n");
    if (choice !== null && choice.type !== "details") return resolve(choice);
    if (choice !== null) host.out(`${viewLines(view, colours, true).join("\n")}\n`);
    prompt();
  }

  function pressed({ name, text, ctrl, meta }: Key): void {
    if (ctrl && name === "d") return resolve(null);
    if (!open) return;
    if (name === "return" || name === "enter") return entered();
    if (name === "backspace") {
      // The filter of what is printed lets no cursor movement pass: the line is written again.
      typed = [...typed].slice(0, -1).join("");
      return host.out(`\n› ${typed}`);
    }
    if (ctrl || meta || name === "paste" || name === "tab" || terminalText(text) !== text) return;
    typed += text;
    host.out(text);
  }

  const offKeys = keys.listenForEditing(pressed);
  host.out(`${viewLines(view, colours).join("\n")}\n`);
  const offGate = openGate(host, () => {
    open = true;
    prompt();
  });
  const offSignal = host.onSignal("SIGINT", () => resolve(null));
  return promise.finally(() => {
    offGate();
    offKeys();
    offSignal();
  });
}
