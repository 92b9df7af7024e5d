/**
 * Makes text of models, tools and children harmless for a terminal (rule E4).
 *
 * Invariants:
 *  1. The result has no control character except line feed and tab, so it has no escape sequence, however nested.
 *  2. It has no character that changes the direction of the text around it.
 *  3. Text without such characters is returned unchanged.
 */

import { codePointsPrefix } from "../../core/text/bytes.ts";

/**
 * Complete sequences are removed with their parameters; of incomplete ones the escape character is removed (CONTROLS).
 * The content of a sequence ends where another could begin, so the time is linear in the length of the text.
 */
const SEQUENCES = new RegExp(
  [
    // OSC, DCS, SOS, PM and APC, with their content.
    // oxlint-disable-next-line no-control-regex
    /(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)/,
    // CSI.
    // oxlint-disable-next-line no-control-regex
    /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/,
    // oxlint-disable-next-line no-control-regex
    /\u001b[ -/]*[0-Z\\^-~]/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);
const LINE_ENDS = /\r\n?/g;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/g;
// oxlint-disable-next-line no-control-regex
const COLOURS = /(\u001b\[\d{1,2}(?:;\d{1,4})+m)/;
const SPACES = /\s+/g;
/** In code points: a few lines at most. */
const ERROR_LENGTH = 300;

/** Keeps line feeds and tabs. */
export function terminalText(text: string): string {
  return text
    .toWellFormed()
    .replace(SEQUENCES, "")
    .replace(LINE_ENDS, "\n")
    .replace(CONTROLS, "")
    .replace(DIRECTIONS, "");
}

/** Keeps also what looks like a colour of colours.ts. The writer removes those without the token of the process. */
export function colouredText(text: string): string {
  if (!text.includes("\u001b")) return terminalText(text);
  return text
    .split(COLOURS)
    .map((part, index) => (index % 2 === 1 ? part : terminalText(part)))
    .join("");
}

/** The text on one line. */
export function terminalLine(text: string): string {
  return terminalText(text).replace(SPACES, " ").trim();
}

/** The message of an error from a provider or a tool, on one line and not too long. */
export function errorWords(error: string): string {
  const line = terminalLine(error);
  const short = codePointsPrefix(line, ERROR_LENGTH);
  return short.length < line.length ? `${short}…` : line;
}

/** How a run ended: its status, the reason, the error. */
export function endedWords(status: string, reason: string | null, error: string | null): string {
  const how = reason === null ? status : `${status}, ${reason}`;
  return error === null ? how : `${how}: ${errorWords(error)}`;
}
