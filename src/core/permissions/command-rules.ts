/**
 * Which commands a rule matches. An allow matches exactly its words, unless its last word is `*`. A rule that restricts
 * matches its words anywhere in a command, because a shell, and programs that start others, take a command as words.
 */

import { type Json, jsonObjectIs } from "../values/json.ts";

const REST = "*";
const ARGV_LENGTH = 128 * 1024;

export function commandAllowed(words: readonly string[], input: Json): boolean {
  if (!jsonObjectIs(input)) return false;
  const { argv, shell } = input;
  if (shell !== undefined && shell !== null && shell !== false) return false;
  if (!Array.isArray(argv) || argv.length === 0 || !argv.every((item) => typeof item === "string")) return false;
  const wanted = firstWords(words);
  return (commandIsPrefix(words) || argv.length === wanted.length) && startsWith(argv, wanted);
}

export function commandRestricted(words: readonly string[], input: Json): boolean {
  const asked = jsonObjectIs(input) ? input["argv"] : undefined;
  const argv = Array.isArray(asked) ? asked.filter((item) => typeof item === "string") : [];
  // No tool takes so much text, and searching it would take long.
  if (argv.reduce((sum, item) => sum + item.length, 0) > ARGV_LENGTH) return true;
  const wanted = firstWords(words);
  const spread = argv.flatMap((item) => item.split(/[\s;&|()`$<>"'{}]+/).filter((word) => word !== ""));
  return [argv, spread].some((list) => list.some((_, index) => startsBare(list, index, wanted)));
}

/** True if more words may follow those of the rule. */
export function commandIsPrefix(words: readonly string[]): boolean {
  return words.at(-1) === REST;
}

/** The words without the `*` at the end. */
export function firstWords(words: readonly string[]): readonly string[] {
  return commandIsPrefix(words) ? words.slice(0, -1) : words;
}

/** `/usr/bin/rm -r` is `rm -r`. */
function startsBare(list: readonly string[], index: number, words: readonly string[]): boolean {
  return words.every((word, offset) => {
    const given = list[index + offset];
    return given === word || (offset === 0 && given?.slice(given.lastIndexOf("/") + 1) === word);
  });
}

function startsWith(argv: readonly string[], words: readonly string[]): boolean {
  return words.every((word, index) => argv[index] === word);
}
