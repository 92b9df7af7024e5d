/**
 * The frame at the bottom of a terminal while a command works: it is drawn when something changes, and ten times a
 * second while it moves.
 *
 * Invariants:
 *  1. All that changes in one turn of the event loop is one write.
 *  2. However the process ends, the terminal gets its cursor and its paste mode back. Ctrl-Z gives them back too.
 *  3. After `close` nothing is drawn; closing again does nothing.
 */

import type { CancelTimer } from "../../contracts/world.ts";
import type { Host, Screen } from "../host.ts";
import { createFrame, type Position } from "./frame.ts";

const FRAME_MS = 100;
/** The terminal marks pasted text, so that a pasted line end is not taken for Enter. */
const MARK_PASTES = "\u001b[?2004h";
const NO_PASTE_MARKS = "\u001b[?2004l";

export interface Drawing {
  readonly lines: readonly string[];
  /** Where the user types; without it the cursor is hidden. */
  readonly cursor?: Position;
  /** True: it looks different after a tenth of a second. */
  readonly moves: boolean;
}

export interface MovingFrame {
  /** Draws again soon. */
  draw(): void;
  /** Writes text above the frame, where it stays. */
  above(text: string): void;
  /** Gives the terminal back; these lines stay. */
  close(lines: readonly string[]): void;
}

export interface MovingFrameParts {
  readonly host: Host;
  readonly screen: Screen;
  /** What is drawn; `tick` counts the tenths of a second in which it moved. */
  readonly drawing: (tick: number) => Drawing;
  /** Given where the user types in the frame: called when the terminal is given back by Ctrl-Z and taken again. */
  readonly typing?: { paused(): void; resumed(): void };
}

export function openMovingFrame({ host, screen, drawing, typing }: MovingFrameParts): MovingFrame {
  const frame = createFrame(screen.draw);
  let above = "";
  let ticks = 0;
  let timer: CancelTimer | null = null;
  let scheduled = false;
  let closed = false;

  function drawNow(): void {
    scheduled = false;
    if (closed) return;
    const { lines, cursor, moves } = drawing(ticks);
    frame.draw(lines, cursor, above);
    above = "";
    if (!moves) return stopTimer();
    timer ??= host.world.after(FRAME_MS, () => {
      timer = null;
      ticks += 1;
      drawNow();
    });
  }

  function stopTimer(): void {
    timer?.();
    timer = null;
  }

  function draw(): void {
    if (scheduled) return;
    scheduled = true;
    host.world.soon(drawNow);
  }

  function giveBack(): void {
    if (above !== "") frame.above(above);
    above = "";
    frame.abandon();
    if (typing !== undefined) screen.draw(NO_PASTE_MARKS);
  }

  const offs = [
    host.onExit(giveBack),
    host.onSignal("SIGTSTP", () => {
      typing?.paused();
      giveBack();
      host.suspend();
    }),
    host.onSignal("SIGCONT", () => {
      frame.reopen();
      if (typing !== undefined) screen.draw(MARK_PASTES);
      typing?.resumed();
      draw();
    }),
    screen.onResize(() => {
      frame.resized(screen.size().columns);
      draw();
    }),
  ];
  if (typing !== undefined) screen.draw(MARK_PASTES);

  return {
    draw,
    above(text) {
      above += text.endsWith("\n") ? text : `${text}\n`;
      draw();
    },
    close(lines) {
      if (closed) return;
      closed = true;
      stopTimer();
      for (const off of offs) off();
      if (above !== "") frame.above(above);
      frame.close(lines);
      if (typing !== undefined) screen.draw(NO_PASTE_MARKS);
    },
  };
}
