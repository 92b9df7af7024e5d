/**
 * The live picture of a tree in a terminal. While the tree works it is drawn ten times a second; at the end it stays, with the answer
 * below it.
 *
 * Invariant: however the process ends, the terminal gets its cursor back.
 */

import { createColours } from "../text/colours.ts";
import type { CancelTimer } from "../../contracts/world.ts";
import type { Host, Off, Screen } from "../host.ts";
import { countLabel } from "../text/amounts.ts";
import { fitWidth } from "../text/display-width.ts";
import { terminalLine, terminalText } from "../text/terminal-text.ts";
import { totalsLine } from "../tree/totals-line.ts";
import { createTreeModel } from "../tree/tree-model.ts";
import { treeLines } from "../tree/tree-lines.ts";
import type { Display, Setting } from "./display.ts";
import { endingLines } from "./ending-lines.ts";
import { createFrame } from "./frame.ts";

const FRAME_MS = 100;
/**
 * Beside the picture: an empty line, a question and the totals; the line where the cursor stands; and one above it all, because some terminals
 * keep what is erased from the first row on.
 */
const LINES_BESIDE = 5;

export function createLiveDisplay(host: Host, screen: Screen): Display {
  const colours = createColours(host.colours.out);
  const frame = createFrame(host.out);
  let setting: Setting = { model: "", because: "", store: "", recovered: 0 };
  let model = createTreeModel();
  let now = (): number => 0;
  let noticed: string | null = null;
  let asked: string | null = null;
  let ticks = 0;
  let timer: CancelTimer | null = null;
  let offs: Off[] = [];

  function lines(): string[] {
    const { columns, rows } = screen.size();
    const width = Math.max(1, columns - 1);
    const picture = treeLines(model, { width, height: rows - LINES_BESIDE, now: now(), frame: ticks, colours });
    const totals = totalsLine(model, now());
    const below = noticed === null ? `${totals} · Ctrl-C cancels` : `${noticed} · ${totals}`;
    const question = asked === null ? [] : [colours.yellow(fitWidth(asked, width))];
    return [...picture, "", ...question, colours.dim(fitWidth(below, width))];
  }

  function draw(): void {
    if (model.tree !== "") frame.draw(lines());
  }

  function tick(): void {
    timer = host.world.after(FRAME_MS, () => {
      ticks += 1;
      draw();
      tick();
    });
  }

  function stop(): void {
    timer?.();
    timer = null;
    for (const off of offs) off();
    offs = [];
  }

  function suspend(): void {
    frame.abandon();
    host.suspend();
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
      offs = [
        host.onExit(() => frame.abandon()),
        host.onSignal("SIGTSTP", suspend),
        host.onSignal("SIGCONT", () => {
          frame.reopen();
          draw();
        }),
        screen.onResize(() => {
          frame.resized(screen.size().columns);
          draw();
        }),
      ];
      tick();
    },
    changed(changed, _changes, time) {
      const first = model.tree === "";
      model = changed;
      now = time;
      if (first) draw();
    },
    said(said, final) {
      if (!final) frame.above(`${colours.bold(terminalLine(said.name))}: ${terminalText(said.text).trim()}`);
    },
    draining: () => undefined,
    notice(text) {
      noticed = text;
      draw();
    },
    ask(text) {
      if (text !== null) frame.above(`${colours.yellow("?")} ${terminalText(text).trim()}`);
      asked = text === null ? null : "y allows it, n refuses it";
      draw();
    },
    answer(text) {
      settle();
      if (text === null) host.out(`\n${colours.dim("(the agent decided to say nothing)")}\n`);
      else host.out(`\n${terminalText(text).trimEnd()}\n`);
    },
    end(ending) {
      settle();
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

  /** The last picture, which stays. */
  function settle(): void {
    if (timer === null) return;
    stop();
    const width = Math.max(1, screen.size().columns - 1);
    if (model.tree !== "") frame.close(treeLines(model, { width, now: now(), frame: ticks, colours }));
  }
}
