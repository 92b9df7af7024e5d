// The reply that means "say nothing" (A6): the two words, the rest of a reply, and what a stream must hold back.
//
// Invariants
// 1. What a stream lets through (all but the end that `noMessageHeld` counts) is a beginning of what is said, whatever
//    text follows. No fragment of the word is ever shown, neither as the whole reply nor as its last line.
// 2. The word inside a line is ordinary text.

const WORDS = ["NO_MESSAGE", "NO_REPLY"] as const;

/** True if a model said that it has nothing to say. */
export function messageNoMessageIs(text: string): boolean {
  const trimmed = text.trim();
  return WORDS.some((word) => trimmed === word);
}

/** What the reply says: all of it, or the text before a last line that is exactly one of the words. */
export function messageSaid(text: string): string {
  const end = text.trimEnd();
  const line = lineStart(end);
  return messageNoMessageIs(end.slice(line)) ? end.slice(0, line).trimEnd() : text;
}

/**
 * How many characters at the end of this text must be held back, because they are white space that may come before the
 * word, or could become the word. `fresh` is true if no text came before this one.
 */
export function noMessageHeld(text: string, fresh: boolean): number {
  const end = text.trimEnd();
  const line = lineStart(end);
  const begun = end.slice(line).trim();
  const spaceFollows = end.length < text.length;
  const could = (fresh || line > 0) && WORDS.some((word) => (spaceFollows ? begun === word : word.startsWith(begun)));
  return text.length - (could ? end.slice(0, line).trimEnd().length : end.length);
}

/** Where the last line begins. */
function lineStart(text: string): number {
  return Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
}
