/** Which display shows the work of a command: JSON if asked for, the picture in a terminal, else lines. */

import type { Host } from "../host.ts";
import type { Display } from "./display.ts";
import { createJsonDisplay } from "./jsonl.ts";
import { createLiveDisplay } from "./live.ts";
import { createPlainDisplay } from "./plain.ts";

/** Only one tree at a time can be drawn; several are lines. */
export function chooseDisplay(json: boolean, trees: number, host: Host): Display {
  if (json) return createJsonDisplay(host);
  return host.screen === null || trees > 1 ? createPlainDisplay(host) : createLiveDisplay(host, host.screen);
}
