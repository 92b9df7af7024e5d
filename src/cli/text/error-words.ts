/** The words of an error as people read them: a provider's or a tool's, harmless and not too long. */

import { codePointsPrefix } from "../../core/text/index.ts";
import { terminalLine } from "./terminal-text.ts";

/** In code points: enough for what providers say, and a few lines at most. */
const LONGEST = 300;

export function errorWords(error: string): string {
  const line = terminalLine(error);
  const short = codePointsPrefix(line, LONGEST);
  return short.length < line.length ? `${short}…` : line;
}

/** How something ended: its status, with the reason, and why in words. */
export function endedWords(status: string, reason: string | null, error: string | null): string {
  const how = reason === null ? status : `${status}, ${reason}`;
  return error === null ? how : `${how}: ${errorWords(error)}`;
}
