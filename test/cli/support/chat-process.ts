/** `errand chat` in a pseudo-terminal, with the screen that its user sees. */

import { type Finished, type HowToRun, type RunningErrand, SLOW, startErrand } from "./errand-process.ts";
import { screenOf, type ScreenState } from "./screen.ts";

export const ENTER = "\r";
export const CTRL_C = "\u0003";
export const CTRL_D = "\u0004";
export const UP = "\u001b[A";

/** So that a test that hangs says what was on the screen. */
const PATIENCE_MS = 50_000;

export interface RunningChat {
  readonly running: RunningErrand;
  type(text: string): void;
  screen(): ScreenState;
  /** Lines with something on them. */
  lines(): string[];
  /** Resolves once the screen is as wanted. */
  sees(wanted: (lines: string[], screen: ScreenState) => boolean): Promise<void>;
  /** Resolves once a line of the screen begins so. */
  seesLine(beginning: string): Promise<void>;
  /** The typed line stands there alone: nothing is under way. */
  prompt(): Promise<void>;
  readonly finished: Promise<Finished>;
}

export async function startChat(
  folder: string,
  args: readonly string[],
  how: Partial<HowToRun> = {},
): Promise<RunningChat> {
  const terminal = how.terminal ?? { columns: 90, rows: 30 };
  const running = startErrand(["chat", ...args], { folder, entry: SLOW, ...how, terminal });
  const screen = (): ScreenState => screenOf(running.shown());
  const lines = (): string[] => screen().lines.filter((line) => line !== "");
  let over = false;
  void running.finished.finally(() => {
    over = true;
  });
  const chat: RunningChat = {
    running,
    type: running.type,
    screen,
    lines,
    async sees(wanted) {
      const began = performance.now();
      while (!wanted(lines(), screen())) {
        const late = performance.now() - began > PATIENCE_MS;
        if (over || late)
          throw new Error(`${over ? "ended" : "waited"} without what was wanted:\n${lines().join("\n")}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    seesLine: (beginning) => chat.sees((all) => all.some((line) => line.startsWith(beginning))),
    prompt: () =>
      chat.sees((all, { cursorVisible }) => cursorVisible && all.at(-1)?.startsWith("›") === true && !working(all)),
    finished: running.finished,
  };
  await chat.sees((all) => all.at(-1) === "›");
  return chat;
}

function working(lines: readonly string[]): boolean {
  return lines.some((line) => line.endsWith("· Ctrl-C cancels"));
}
