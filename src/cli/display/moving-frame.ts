/**
 * Lines at the bottom of a terminal that are drawn ten times a second, with text that stays above them.
 *
 * Invariants:
 *  1. However the process ends, the terminal gets its cursor back.
 *  2. Ctrl-Z gives the terminal back too; coming back takes it and draws again.
 *  3. After `close` nothing is drawn; closing again does nothing.
 */

import type { CancelTimer } from "../../contracts/world.ts";
import type { Host, Screen } from "../host.ts";
import { createFrame } from "./frame.ts";

const FRAME_MS = 100;

export interface MovingFrame {
  /** Draws the lines as they are now. */
  draw(): void;
  /** Writes text above the lines, where it stays. */
  above(text: string): void;
  /** Gives the terminal back, with these lines staying. */
  close(lines: readonly string[]): void;
}

/** `lines` makes what is drawn, given the number of the drawing; null draws nothing yet. */
export function openMovingFrame(
  host: Host,
  screen: Screen,
  lines: (tick: number) => readonly string[] | null,
): MovingFrame {
  const frame = createFrame(screen.draw);
  let ticks = 0;
  let timer: CancelTimer | null = null;
  let used = false;

  function draw(): void {
    const drawn = lines(ticks);
    if (drawn === null) return;
    used = true;
    frame.draw(drawn);
  }

  function tick(): void {
    timer = host.world.after(FRAME_MS, () => {
      ticks += 1;
      draw();
      tick();
    });
  }

  const offs = [
    host.onExit(() => frame.abandon()),
    host.onSignal("SIGTSTP", () => {
      frame.abandon();
      host.suspend();
    }),
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

  return {
    draw,
    above(text) {
      used = true;
      frame.above(text);
    },
    close(last) {
      if (timer === null) return;
      timer();
      timer = null;
      for (const off of offs) off();
      // A terminal that was never drawn on has nothing to be given back.
      if (used || last.length > 0) frame.close(last);
    },
  };
}
