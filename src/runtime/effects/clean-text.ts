/** Texts from outside that people are shown: without what could control a terminal, and not too long. */

import { codePointsPrefix } from "../../core/text/index.ts";

/** In code points. A page of HTML helps no reader. */
const LONGEST_TEXT = 1_000;
// oxlint-disable-next-line no-control-regex
const SEQUENCES = /\u001b\[[0-?]*[ -/]*[@-~]/g;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

export function cleanText(message: string): string {
  const clean = message.toWellFormed().replace(SEQUENCES, "").replace(CONTROLS, "");
  const short = codePointsPrefix(clean, LONGEST_TEXT);
  return short.length < clean.length ? `${short}…` : clean;
}

/** The same on one line. */
export function cleanLine(text: string): string {
  return cleanText(text.slice(0, LONGEST_TEXT * 4))
    .replaceAll(/\s+/g, " ")
    .trim();
}
