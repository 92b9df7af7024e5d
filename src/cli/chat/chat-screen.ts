/**
 * A chat in a terminal. What was said stays above; at the bottom stand what the agent is saying, the tree while it works, and the line that is
 * being typed.
 *
 * Invariants:
 *  1. Whatever happens above, the typed line and its cursor stay as they are. All that happens at one moment is one write.
 *  2. However the process ends, the terminal gets its cursor and its ways of pasting back.
 *  3. What is drawn again leaves a row of the window free above it: some terminals keep what is erased from the first row on.
 */

import type { CancelTimer } from "../../contracts/world.ts";
import type { HistoryItem } from "../../core/journal/history.ts";
import type { Display } from "../display/display.ts";
import { createFrame, type Place } from "../display/frame.ts";
import type { Host, Off, Screen } from "../host.ts";
import type { ReadableEvent } from "../../view/readable-event.ts";
import { countLabel } from "../../view/amounts.ts";
import { createColours } from "../text/colours.ts";
import { fitWidth } from "../text/display-width.ts";
import { terminalLine, terminalText } from "../text/terminal-text.ts";
import { lastRows } from "../text/wrap.ts";
import { totalsLine } from "../display/totals-line.ts";
import { treeLines } from "../display/tree-lines.ts";
import { createTreeModel, treeIdle } from "../../view/tree-model.ts";
import { layoutInput } from "./input-layout.ts";
import type { LineEditor } from "./line-editor.ts";
import { recentTree, sinceNow } from "./recent-tree.ts";

const FRAME_MS = 100;
const MARK = "› ";
/** The terminal puts marks around what is pasted, so that a pasted line end is not taken for Enter. */
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";
/** What of a conversation is shown when one comes back to it. */
const PAST_ITEMS = 4;
const PAST_ROWS = 8;

export interface ChatScreen extends Display {
  /** The typed line has changed. */
  typed(): void;
  /** More of what the agent is saying. */
  saying(text: string): void;
  /** What the user said. */
  heard(text: string): void;
  /** Lines that answer the user, not the agent's. */
  print(lines: readonly string[]): void;
  /** The whole tree, with the numbers of its runs. */
  printTree(): void;
  past(items: readonly HistoryItem[]): void;
  /** Gives the terminal back for a while, and takes it again. */
  pause(): void;
  goOn(): void;
}

export function createChatScreen(host: Host, screen: Screen, editor: LineEditor): ChatScreen {
  const colours = createColours(host.colours.out);
  const frame = createFrame(screen.draw);
  let model = createTreeModel();
  let now = (): number => 0;
  let saying = "";
  let noticed: string | null = null;
  let busy = false;
  /** When the tree began to work: runs that ended before are of no interest now. */
  let since = sinceNow(model);
  /** What is to be written above with the next drawing. */
  let unsaid = "";
  let drawing = false;
  let ticks = 0;
  let timer: CancelTimer | null = null;
  let offs: Off[] = [];
  let choices: readonly string[] = [];

  /** Draws what there is to draw at the end of this moment. */
  function draw(): void {
    if (drawing) return;
    drawing = true;
    host.world.soon(flush);
  }

  function flush(): void {
    drawing = false;
    if (offs.length === 0) return;
    const { lines, cursor } = view();
    frame.draw(lines, cursor, unsaid);
    unsaid = "";
  }

  function view(): { readonly lines: string[]; readonly cursor: Place } {
    const { columns, rows } = screen.size();
    const width = Math.max(4, columns - 1);
    const input = layoutInput(editor.text, editor.cursor, {
      width,
      height: Math.max(1, Math.floor(rows / 3)),
      mark: MARK,
    });
    const status = statusLines(width);
    // The row above the frame and the one below it, an empty line at its top, and one above the typed line.
    const room = Math.max(0, rows - input.rows.length - status.length - 4);
    const height = Math.min(room, Math.max(2, Math.floor((room * 2) / 3)));
    const picture = busy && height > 0 ? treeLines(recentTree(model, since), { ...look(width), height }) : [];
    const said = lastRows(terminalText(saying).trim(), width, Math.max(0, room - picture.length - 1));
    const above = said.length === 0 || saying.trim() === "" ? picture : [...said, "", ...picture];
    const top = above.length + status.length === 0 ? [] : [""];
    const lines = [...top, ...above, ...status, "", ...input.rows];
    return { lines, cursor: { row: lines.length - input.rows.length + input.cursor.row, column: input.cursor.column } };
  }

  function look(width: number): Parameters<typeof treeLines>[1] {
    return { width, now: now(), frame: ticks, colours };
  }

  function statusLines(width: number): string[] {
    const lines: string[] = [];
    if (busy) {
      const totals = totalsLine(recentTree(model, since), now());
      lines.push(colours.dim(fitWidth(`${totals} · ${noticed ?? "Ctrl-C cancels"}`, width)));
    }
    return [...lines, ...choices.map((line) => colours.yellow(fitWidth(line, width)))];
  }

  /** Stays above, after an empty line. */
  function say(text: string): void {
    unsaid += `\n${text}\n`;
    draw();
  }

  function tick(): void {
    timer ??= host.world.after(FRAME_MS, () => {
      timer = null;
      ticks += 1;
      draw();
      if (busy) tick();
    });
  }

  /** The tree began to work, or came to rest: then its last picture stays. */
  function moved(): void {
    const working = model.tree !== "" && !treeIdle(model);
    if (working && !busy) since = sinceNow(model);
    if (!working && busy) {
      const recent = recentTree(model, since);
      if (recent.agents.size > 1) say(treeLines(recent, look(Math.max(4, screen.size().columns - 1))).join("\n"));
      noticed = null;
    }
    busy = working;
    if (busy) tick();
  }

  function endings(changes: readonly ReadableEvent[]): void {
    for (const change of changes) {
      if (change.type !== "turn-ended" || change.agent !== model.agents.get(0)?.id || change.outcome === "done")
        continue;
      if (change.outcome === "cancelled") say(colours.dim("(cancelled)"));
      else
        say(colours.red(terminalLine(`the turn failed (${change.reason ?? "unknown reason"}): ${change.error ?? ""}`)));
    }
  }

  function take(): void {
    screen.draw(PASTE_ON);
    offs = [
      host.onExit(give),
      screen.onResize(() => {
        frame.resized(screen.size().columns);
        draw();
      }),
    ];
  }

  function give(): void {
    frame.abandon();
    screen.draw(PASTE_OFF);
  }

  return {
    begin({ model: name, because, store, recovered }) {
      for (const told of [`model ${name} (because ${because}) · store ${store}`, "Enter sends, Ctrl-D leaves, /help"]) {
        host.out(`${colours.dim(fitWidth(told, screen.size().columns - 1))}\n`);
      }
      if (recovered > 0) host.out(`going on with ${countLabel(recovered, "unfinished tree")} of an earlier process\n`);
      take();
      draw();
    },
    past(items) {
      for (const { from, text } of items.slice(-PAST_ITEMS)) {
        const shown = terminalText(text).trim().split("\n");
        const rows = shown.length > PAST_ROWS ? [...shown.slice(0, PAST_ROWS), "…"] : shown;
        say(from === "user" ? userLines(rows.join("\n")) : rows.join("\n"));
      }
    },
    changed(changed, changes, time) {
      model = changed;
      now = time;
      if (model.agents.get(0)?.thinking !== true) saying = "";
      moved();
      endings(changes);
      draw();
    },
    said({ text }) {
      saying = "";
      say(terminalText(text).trim());
    },
    draining: () => undefined,
    notice(text) {
      noticed = text;
      draw();
    },
    ask(question) {
      if (typeof question?.text === "string") say(question.text);
      choices = question?.choices ?? [];
      draw();
    },
    answer: () => undefined,
    end: () => undefined,
    typed: draw,
    saying(text) {
      saying += text;
      tick();
    },
    heard: (text) => say(userLines(terminalText(text))),
    print: (lines) => say(lines.join("\n")),
    printTree() {
      const numbered = [...model.agents].map(([number, agent]) => {
        return [number, number === 0 ? agent : { ...agent, name: `${number}: ${agent.name}` }] as const;
      });
      say(treeLines({ ...model, agents: new Map(numbered) }, look(Math.max(4, screen.size().columns - 1))).join("\n"));
    },
    pause() {
      flush();
      for (const off of offs) off();
      offs = [];
      give();
    },
    goOn() {
      frame.reopen();
      take();
      draw();
    },
    close() {
      if (offs.length === 0) return;
      flush();
      timer?.();
      timer = null;
      for (const off of offs) off();
      offs = [];
      frame.close([]);
      screen.draw(PASTE_OFF);
    },
  };

  function userLines(text: string): string {
    return colours.bold(`${MARK}${text.replaceAll("\n", `\n${" ".repeat(MARK.length)}`)}`);
  }
}
