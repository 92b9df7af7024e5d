/**
 * Text that a person is asked to approve. Characters that are invisible, or that change how the text around them looks,
 * are written as `\u{…}`. terminal-text.ts would remove them, and so hide a change that consists of them.
 */

import { terminalText } from "./terminal-text.ts";

/** Controls except tab, format and private characters, lone surrogates, and all spaces except the ordinary one. */
const UNSEEN = /[^\P{C}\t]|[^\P{Z} ]/gu;
/** Characters without a shape: they change nothing visible, or select a variant. */
const SHAPELESS = /\p{Default_Ignorable_Code_Point}/gu;

export function visibleText(text: string): string {
  return terminalText(text.replace(UNSEEN, written).replace(SHAPELESS, written));
}

function written(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

const PLAIN_WORD = /^[A-Za-z0-9_./:=@%+,-]+$/;

/** The words of a command on one line, quoted as in a shell, so that each word can be recognised. */
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
