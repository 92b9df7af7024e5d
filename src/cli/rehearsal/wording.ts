/** Owns how the rehearsal words things: numbers with their nouns, short excerpts, and the sentence that says what it is. */

export const HONESTY =
  "(offline rehearsal: keyword research without language understanding; use --model for a real one)";

export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}

/** At most `limit` characters, cut at a word where there is one, on one line. */
export function shorten(text: string, limit: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= limit) return line;
  const cut = line.slice(0, limit - 1);
  const space = cut.lastIndexOf(" ");
  return `${(space > limit / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`;
}

/** The first sentence of a text. */
export function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}

/** The lines of a `read_file` answer, without their numbers and without its notes. */
export function fileLines(output: string): readonly string[] {
  return output.split("\n").flatMap((line) => /^\d+\t(.*)$/.exec(line)?.[1] ?? []);
}
