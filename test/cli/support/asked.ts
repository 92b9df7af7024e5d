/** Waiting for questions in a pseudo-terminal. */

import type { RunningErrand } from "./errand-process.ts";
import { screenOf } from "./screen.ts";

const PATIENCE_MS = 50_000;

/** Resolves once a question with these words is on the screen, and can be answered if it is wanted so. */
export async function asked(running: RunningErrand, words: string, answerable = true): Promise<void> {
  const began = performance.now();
  for (;;) {
    const { lines } = screenOf(running.shown());
    const at = lines.findLastIndex((line) => line.includes(words));
    if (at >= 0 && (!answerable || lines.slice(at).some((line) => line.startsWith("y allows it")))) return;
    if (performance.now() - began > PATIENCE_MS) throw new Error(`not asked about ${words}:\n${lines.join("\n")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
