/**
 * Text that a person decides about, as one can see it: what is not visible, or changes how the text around it looks, is written as `\u{…}`.
 * The sanitised text (terminal-text.ts) leaves such characters out, and would hide a change that is made of them.
 */

import { terminalText } from "./terminal-text.ts";

/** Controls but tab, formatting and private characters, lone surrogates, and all blanks but the ordinary one. */
const UNSEEN = /[^\P{C}\t]|[^\P{Z} ]/gu;
/** Letters and marks that have no shape: they change nothing that can be seen, or choose a variant. */
const SHAPELESS = /\p{Default_Ignorable_Code_Point}/gu;

/** On one line. */
export function visibleText(text: string): string {
  return terminalText(text.replace(UNSEEN, written).replace(SHAPELESS, written));
}

function written(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

const PLAIN_WORD = /^[A-Za-z0-9_./:=@%+,-]+$/;

/** The words of a command as one line, quoted as a shell would need it, so that no word can be taken for two or for something else. */
export function commandLine(words: readonly string[]): string {
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  if (PLAIN_WORD.test(word)) return word;
  const shown = visibleText(word);
  // What had to be written in another way is a string of JavaScript.
  if (shown !== word) return `"${visibleText(word.replaceAll(/["\\]/g, "\\$&"))}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
