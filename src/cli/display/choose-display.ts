/** Which displays show the work of a command: JSON if asked for, the picture in a terminal, else lines. */

import type { Host } from "../host.ts";
import type { Display } from "./display.ts";
import { createJsonDisplay } from "./jsonl.ts";
import { createLiveDisplay } from "./live.ts";
import { createAnswerOutput, createPlainDisplay } from "./plain.ts";

/** One for each tree. Only one tree at a time can be drawn; several are lines. */
export function chooseDisplays(json: boolean, trees: number, host: Host): Display[] {
  const output = createAnswerOutput(host);
  return Array.from({ length: trees }, () => {
    if (json) return createJsonDisplay(host);
    if (host.screen !== null && trees === 1) return createLiveDisplay(host, host.screen);
    return createPlainDisplay(host, { output, held: trees > 1 });
  });
}
