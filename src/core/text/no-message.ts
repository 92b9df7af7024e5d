// The reply that means "say nothing" (A6). Owns the two words and when a stream may stop holding text back.
//
// Invariants
// 1. messageNoMessageIs(t) implies noMessageCouldBecome(p) for every prefix p of t: a stream that holds text back
//    while it could become one of the words never shows a fragment of them.
// 2. Text that merely holds or ends with a word is ordinary text.

const WORDS = ["NO_MESSAGE", "NO_REPLY"] as const;

export function messageNoMessageIs(text: string): boolean {
  const trimmed = text.trim();
  return WORDS.some((word) => trimmed === word);
}

/** Whether more text could still make this beginning of a reply mean "say nothing". */
export function noMessageCouldBecome(prefix: string): boolean {
  const begun = prefix.trim();
  // White space after a beginning rules out that it grows into the whole word, unless the word is already whole.
  const spaceFollows = begun !== "" && prefix.trimEnd().length < prefix.length;
  return WORDS.some((word) => (spaceFollows ? begun === word : word.startsWith(begun)));
}
