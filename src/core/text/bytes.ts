// Measures and cuts text by UTF-8 bytes and by code points, without encoding it.
//
// Invariants
// 1. A cut falls between code points: a surrogate pair stays whole, and utf8Length of a cut is never over the limit.
// 2. A lone surrogate is one code point of 3 bytes, as it is written out as U+FFFD.

/** Bytes of the code point that begins at `at`: 4 exactly when it takes two code units. */
function bytesAt(text: string, at: number): 1 | 2 | 3 | 4 {
  const code = text.charCodeAt(at);
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code < 0xd800 || code > 0xdbff) return 3;
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff ? 4 : 3;
}

/** The number of bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length;) {
    const size = bytesAt(text, at);
    bytes += size;
    at += size === 4 ? 2 : 1;
  }
  return bytes;
}

/** The longest beginning of the text that takes at most `maxBytes` in UTF-8. */
export function cutToBytes(text: string, maxBytes: number): string {
  let bytes = 0;
  let at = 0;
  while (at < text.length) {
    const size = bytesAt(text, at);
    if (!(bytes + size <= maxBytes)) return text.slice(0, at);
    bytes += size;
    at += size === 4 ? 2 : 1;
  }
  return text;
}

/** The first `count` code points. */
export function codePointsPrefix(text: string, count: number): string {
  let at = 0;
  for (let taken = 0; at < text.length; taken++) {
    if (!(taken + 1 <= count)) return text.slice(0, at);
    at += bytesAt(text, at) === 4 ? 2 : 1;
  }
  return text;
}
