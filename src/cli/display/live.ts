/**
 * The live picture of a tree in a terminal. While the tree works it is drawn ten times a second, and messages are
 * printed above it. At the end the last picture stays, with the last part of the answer below it.
 */

import { answerOf } from "../../view/channel-message.ts";
import { createColours } from "../text/colours.ts";
import type { Host, Screen } from "../host.ts";
import { countLabel } from "../../view/amounts.ts";
import { fitWidth } from "../text/display-width.ts";
import { terminalLine } from "../text/terminal-text.ts";
import { totalsLine, treeLines } from "./tree-lines.ts";
import { createTreeModel } from "../../view/tree-model.ts";
import { agentText, createWrittenText } from "./agent-text.ts";
import { type Display, NO_SETUP, type UserMessage } from "./display.ts";
import { endingLines } from "./ending-lines.ts";
import { type Drawing, type MovingFrame, openMovingFrame } from "./moving-frame.ts";

/**
 * Rows beside the tree: an empty one, three for a question, the totals, the one of the cursor, and one above the frame,
 * because some terminals keep what is erased from the first row on.
 */
const ROWS_BESIDE = 7;

export function createLiveDisplay(host: Host, screen: Screen): Display {
  const colours = createColours(host.colours.out);
  let frame: MovingFrame | null = null;
  let setup = NO_SETUP;
  let model = createTreeModel();
  let now = (): number => 0;
  /** The last parts of the answer, which are printed below the last picture. */
  let pending: UserMessage[] = [];
  let lastShown: UserMessage | null = null;
  const written = createWrittenText(host);
  let notice: string | null = null;
  let question: readonly string[] = [];
  let ticks = 0;

  const width = (): number => Math.max(1, screen.size().columns - 1);

  function picture(height?: number): string[] {
    if (model.tree === "") return [];
    const view = { width: width(), now: now(), frame: ticks, colours };
    return treeLines(model, height === undefined ? view : { ...view, height });
  }

  function drawing(tick: number): Drawing {
    ticks = tick;
    if (model.tree === "") return { lines: [], moves: false };
    const totals = totalsLine(model, now());
    const below = notice === null ? `${totals} · Ctrl-C cancels` : `${notice} · ${totals}`;
    const asked = question.map((line) => colours.yellow(fitWidth(line, width())));
    const room = screen.size().rows - ROWS_BESIDE;
    const tree = picture(written.empty ? room : Math.max(2, Math.floor(room / 2)));
    const said = written.rows(width(), room - tree.length);
    return { lines: [...said, ...tree, "", ...asked, colours.dim(fitWidth(below, width()))], moves: true };
  }

  /** Ends the frame; the whole last picture stays. */
  function closeFrame(): void {
    frame?.close(picture());
    frame = null;
  }

  function printPending(): void {
    const answer = answerOf(pending);
    pending = [];
    if (answer !== null) host.out(`\n${agentText(answer, host)}\n`);
  }

  return {
    begin(given) {
      setup = given;
      const line = `model ${given.model} (because ${given.because}) · store ${given.store}`;
      host.out(`${colours.dim(fitWidth(line, screen.size().columns - 1))}\n`);
      if (given.recovered > 0)
        host.out(`going on with ${countLabel(given.recovered, "unfinished tree")} of an earlier process\n`);
      frame = openMovingFrame({ host, screen, drawing });
    },
    changed(changed, _changes, time) {
      const first = model.tree === "";
      model = changed;
      now = time;
      if (model.agents.get(0)?.thinking !== true) written.clear();
      if (first) frame?.draw();
    },
    message(message, final) {
      const { kind, name, text } = message;
      if (final && kind !== "commentary") return void pending.push(message);
      if (kind !== "commentary") lastShown = message;
      const shown = agentText(text, host);
      frame?.above(`${colours.bold(terminalLine(name))}:${shown.includes("\n") ? "\n" : " "}${shown}`);
    },
    text({ agent, text }) {
      // Only the root agent speaks to the user.
      if (agent !== model.agents.get(0)?.id) return;
      if (written.empty) frame?.draw();
      written.write(text);
    },
    rest: () => undefined,
    draining: () => undefined,
    notice(text) {
      notice = text;
      frame?.draw();
    },
    ask(asked) {
      if (typeof asked?.text === "string") frame?.above(asked.text);
      const choices = asked?.choices ?? [];
      question = choices.length === 0 ? [] : [...choices, `› ${terminalLine(asked?.typed ?? "")}`];
      frame?.draw();
    },
    answer(text) {
      closeFrame();
      if (text === null) return host.out(`\n${colours.dim("(the agent decided to say nothing)")}\n`);
      // If the whole answer stands above the picture, its last part is printed again below.
      if (pending.length === 0 && lastShown !== null) pending.push(lastShown);
      printPending();
    },
    end(ending) {
      closeFrame();
      printPending();
      host.out(
        `${endingLines(ending, setup, colours)
          .map((line) => `\n${line}`)
          .join("")}\n`,
      );
    },
    close: closeFrame,
  };
}
