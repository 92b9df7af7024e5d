/**
 * The live picture of a tree in a terminal. While the tree works it is drawn ten times a second, and what is said meanwhile stands above
 * it. At the end it stays, with the last of the answer below it.
 */

import { answerOf } from "../../core/journal/spoken.ts";
import { createColours } from "../text/colours.ts";
import type { Host, Screen } from "../host.ts";
import { countLabel } from "../../view/amounts.ts";
import { fitWidth } from "../text/display-width.ts";
import { terminalLine, terminalText } from "../text/terminal-text.ts";
import { totalsLine } from "./totals-line.ts";
import { createTreeModel } from "../../view/tree-model.ts";
import { treeLines } from "./tree-lines.ts";
import type { Display, Said, Setting } from "./display.ts";
import { endingLines } from "./ending-lines.ts";
import { type MovingFrame, openMovingFrame } from "./moving-frame.ts";

/**
 * Beside the picture: an empty line, how to answer a question (two lines, and what is typed) and the totals; the line where the cursor stands; and
 * one above it all, because some terminals keep what is erased from the first row on.
 */
const LINES_BESIDE = 7;

export function createLiveDisplay(host: Host, screen: Screen): Display {
  const colours = createColours(host.colours.out);
  let frame: MovingFrame | null = null;
  let setting: Setting = { model: "", because: "", store: "", recovered: 0 };
  let model = createTreeModel();
  let now = (): number => 0;
  /** Parts of the answer that are to stand below the picture: those that nothing comes after. */
  let pending: Said[] = [];
  let lastShown: Said | null = null;
  let noticed: string | null = null;
  let asked: readonly string[] = [];
  let ticks = 0;

  function lines(tick: number): string[] | null {
    if (model.tree === "") return null;
    ticks = tick;
    const { columns, rows } = screen.size();
    const width = Math.max(1, columns - 1);
    const picture = treeLines(model, { width, height: rows - LINES_BESIDE, now: now(), frame: ticks, colours });
    const totals = totalsLine(model, now());
    const below = noticed === null ? `${totals} · Ctrl-C cancels` : `${noticed} · ${totals}`;
    const question = asked.map((line) => colours.yellow(fitWidth(line, width)));
    return [...picture, "", ...question, colours.dim(fitWidth(below, width))];
  }

  return {
    begin(given) {
      setting = given;
      host.out(
        `${colours.dim(fitWidth(`model ${given.model} (because ${given.because}) · store ${given.store}`, screen.size().columns - 1))}\n`,
      );
      if (given.recovered > 0) {
        host.out(`going on with ${countLabel(given.recovered, "unfinished tree")} of an earlier process\n`);
      }
      frame = openMovingFrame(host, screen, lines);
    },
    changed(changed, _changes, time) {
      const first = model.tree === "";
      model = changed;
      now = time;
      if (first) frame?.draw();
    },
    said(said, final) {
      if (final && said.kind !== "commentary") return void pending.push(said);
      if (said.kind !== "commentary") lastShown = said;
      frame?.above(`${colours.bold(terminalLine(said.name))}: ${terminalText(said.text).trim()}`);
    },
    draining: () => undefined,
    notice(text) {
      noticed = text;
      frame?.draw();
    },
    ask(question) {
      if (typeof question?.text === "string") frame?.above(question.text);
      const choices = question?.choices ?? [];
      asked = choices.length === 0 ? [] : [...choices, `› ${terminalLine(question?.typed ?? "")}`];
      frame?.draw();
    },
    answer(text) {
      settle();
      if (text === null) return host.out(`\n${colours.dim("(the agent decided to say nothing)")}\n`);
      // The picture came after it: the last part of the answer is shown again.
      if (pending.length === 0 && lastShown !== null) pending.push(lastShown);
      printPending();
    },
    end(ending) {
      settle();
      printPending();
      host.out(
        endingLines(ending, setting, colours)
          .map((line) => `\n${line}`)
          .join(""),
      );
      host.out("\n");
    },
    close() {
      settle();
    },
  };

  function printPending(): void {
    const answer = answerOf(pending);
    pending = [];
    if (answer !== null) host.out(`\n${terminalText(answer)}\n`);
  }

  /** The last picture, which stays. */
  function settle(): void {
    const width = Math.max(1, screen.size().columns - 1);
    const picture = model.tree === "" ? [] : treeLines(model, { width, now: now(), frame: ticks, colours });
    frame?.close(picture);
    frame = null;
  }
}
