/**
 * Text of models, tools and children, made harmless for a terminal (rule E4).
 *
 * Invariants:
 *  1. What comes out holds no control character but line feed and tab: no escape sequence can be in it, however it was nested.
 *  2. It holds no character that changes the direction of the text around it.
 *  3. Text without any of these comes out as it is.
 */

import { codePointsPrefix } from "../../core/text/bytes.ts";

/**
 * Whole sequences go with their parameters; what is left of broken ones is text without its escape character. The content of a
 * sequence stops where another could begin, so that the time taken grows with the length of the text and not with its square.
 */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-Z\\^-~]/g;
const LINE_ENDS = /\r\n?/g;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/g;
// oxlint-disable-next-line no-control-regex
const COLOURS = /(\u001b\[\d{1,2}(?:;\d{1,4})+m)/;
const SPACES = /\s+/g;
/** In code points: a few lines at most. */
const ERROR_LENGTH = 300;

/** Lines and tabs stay. */
export function terminalText(text: string): string {
  return text
    .toWellFormed()
    .replace(SEQUENCES, "")
    .replace(LINE_ENDS, "\n")
    .replace(CONTROLS, "")
    .replace(DIRECTIONS, "");
}

/** The same, with what looks like a colour of colours.ts. Whether it is one, the writer knows. */
export function colouredText(text: string): string {
  if (!text.includes("\u001b")) return terminalText(text);
  return text
    .split(COLOURS)
    .map((part, index) => (index % 2 === 1 ? part : terminalText(part)))
    .join("");
}

/** The same on one line. */
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
