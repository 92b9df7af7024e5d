/**
 * `errand completion bash|zsh|fish`: a script on standard output. `trees` and `ids` are what the script asks: a short
 * id, a tab and a few words on a line. With `--json`: `{ type: "script", shell, text }`, or
 * `{ type: "id", short, id, title, about }` for each.
 */

import { ErrandError } from "../../../errors.ts";
import type { CommandAction } from "../../command.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { knownIds } from "./known-ids.ts";
import { commandWords } from "./command-words.ts";
import { zshScript } from "./zsh.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT } from "../../exit-code.ts";
import { withView } from "../../store/open-view.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export const completionCommand: CommandAction = async ({ args: [given = ""], options, scope, host, commands }) => {
  if (given === "trees" || given === "ids") {
    const ids = await withView(scope, (store) => knownIds(store, given));
    for (const known of ids) {
      host.out(options.json === true ? jsonLine({ type: "id", ...known }) : `${known.short}\t${known.about}\n`);
    }
    return EXIT.done;
  }
  if (!shellIs(given)) {
    throw new ErrandError("usage", `There is no completion for "${given}"`, {
      remedy: "Name a shell: errand completion bash, zsh or fish.",
    });
  }
  const text = SCRIPTS[given](commands.map(commandWords));
  host.out(options.json === true ? jsonLine({ type: "script", shell: given, text }) : text);
  return EXIT.done;
};

function shellIs(given: string): given is keyof typeof SCRIPTS {
  return Object.hasOwn(SCRIPTS, given);
}
