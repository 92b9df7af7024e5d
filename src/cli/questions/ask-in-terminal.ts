/** Asks one question in a terminal, for a command that only asks it. */

import type { Host, Key, Keys } from "../host.ts";
import { createColours } from "../text/colours.ts";
import { terminalText } from "../text/terminal-text.ts";
import { type Answer, choiceLines, readChoice } from "./answer-choices.ts";
import { type QuestionView, viewLines } from "./question-view.ts";
import { whenReadable } from "./when-readable.ts";

/** Null: the user left without an answer. */
export function askInTerminal(host: Host, keys: Keys, view: QuestionView): Promise<Answer | null> {
  const colours = createColours(host.colours.out);
  const { promise, resolve } = Promise.withResolvers<Answer | null>();
  let typed = "";
  let readable = false;

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
    if (!readable) return;
    if (name === "return" || name === "enter") return entered();
    if (name === "backspace") {
      // Output may not move the cursor, so the line is written again.
      typed = [...typed].slice(0, -1).join("");
      return host.out(`\n› ${typed}`);
    }
    if (ctrl || meta || name === "paste" || name === "tab" || terminalText(text) !== text) return;
    typed += text;
    host.out(text);
  }

  host.out(`${viewLines(view, colours).join("\n")}\n`);
  const offs = [
    keys.listenForEditing(pressed),
    host.onSignal("SIGINT", () => resolve(null)),
    whenReadable(host, () => {
      readable = true;
      prompt();
    }),
  ];
  return promise.finally(() => {
    for (const off of offs) off();
  });
}
