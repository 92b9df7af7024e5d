/** Texts with effects on a terminal, and a check whether any of their characters was printed. */

/**
 * Titles, clipboard, links, other screens, moved cursors, colours, reports, 8-bit forms, turned directions, bells,
 * overwriting.
 */
export const HOSTILE_SEQUENCES = [
  "\u001b]0;owned\u0007",
  "\u001b]52;c;b3duZWQ=\u001b\\",
  "\u001b]8;;http://owned.example\u0007link\u001b]8;;\u0007",
  "\u001b[2J\u001b[H",
  "\u001b[10A\u001b[K",
  "\u001b[?1049h\u001b[?25l\u001b[?2026h\u001b[?7l",
  "\u001b[41m\u001b[5m\u001b[8mhidden",
  "\u001b[31m\u001b[1mred",
  "\u001b[31;1234m",
  "\u001b[6n\u001b[c\u001bZ",
  "\u001bPq#0\u001b\\",
  "\u001b_app\u001b\\\u001b^pm\u001b\\\u001bXsos\u001b\\",
  "\u001bc",
  "\u009b2J\u009d0;owned\u009c\u0090q\u009c",
  "\u0085\u0084\u008d",
  "\u202egnp.exe\u2066\u2069\u200f\u061c\u200e",
  "safe\rEVIL",
  "a\b\b\b\u007f",
  "\u0007\u000e\u000f\u0000\u000b\u000c",
  "\u001b",
  "\u001b[",
] as const;

export const HOSTILE_TEXT = `begin ${HOSTILE_SEQUENCES.join(" ")} end`;

/** The same without NUL, which arguments and file names cannot contain. */
export const HOSTILE_WORD = HOSTILE_TEXT.replaceAll("\u0000", "");
export const HOSTILE_FILE_NAME = HOSTILE_WORD.replaceAll("/", "-").slice(0, 120);

/** The sequences that Errand itself writes to a terminal: colours, and the controls of its live display. */
const OWN =
  // oxlint-disable-next-line no-control-regex
  /\u001b\[(?:0|1|2|3|4|22|23|24|31|32|33|36|39)m|\u001b\[\?(?:2026|7|25|2004)[hl]|\u001b\[\d*[ABC]|\u001b\[[JK]|\r/g;
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/gu;

/** The characters that should not have been printed, escaped. For a terminal, Errand's own sequences do not count. */
export function unsafeIn(printed: string, terminal = false): string[] {
  const rest = terminal ? printed.replaceAll(OWN, "") : printed;
  return [...rest.matchAll(UNSAFE)]
    .slice(0, 3)
    .map(({ index }) => JSON.stringify(rest.slice(Math.max(0, index - 30), index + 10)));
}
