// Undoes the ways of writing a character by its number or name: `&lt;`, `&#60`, `&#x3c;`, `%3c`, `\x3c`, `\u003c`,
// `\u{3c}`. Owns which sequences there are; it sees readings (look-alike.ts), so `＆ＬＴ；` is one of them too.
//
// Invariants
// 1. A sequence is found when it is complete, at the top of a stack of readings. Its outcome is pushed in its place and
//    may complete another sequence, so every depth (`&amp;lt;`, `%253c`) is undone in one pass.
// 2. Looking back is bounded, and never leaves the stack, whose floor is FLOOR_DEPTH opaque readings.
// 3. No sequence holds `<` or `~`.

import { lookAlike, READING } from "./look-alike.ts";

/** So many opaque readings lie under the stack, so that looking back needs no check. */
export const FLOOR_DEPTH = 24;

/** The readings that can complete an escape. */
export const LAST_OF_ESCAPE = "0123456789abcdeftp;}";

export interface Escape {
  /** The code point of the sequence. */
  readonly value: number;
  /** How many readings it takes. */
  readonly length: number;
  readonly semicolonMayFollow: boolean;
}

export interface NumberReference {
  readonly value: number;
  readonly length: number;
  readonly hexadecimal: boolean;
}

const OPAQUE = READING.opaque;
const SPACE = READING.space;
const HASH = 0x23;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const SLASH = 0x2f;
const ZERO = 0x30;
const NINE = 0x39;
const SEMICOLON = 0x3b;
const LESS_THAN = 0x3c;
const BACKSLASH = 0x5c;
const UNDERSCORE = 0x5f;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const TILDE = 0x7e;
const A = 0x61;
const F = 0x66;
const L = 0x6c;
const M = 0x6d;
const P = 0x70;
const T = 0x74;
const U = 0x75;
const X = 0x78;
const Z = 0x7a;

/** Longer runs of digits name no code point; leading zeros are dropped before they count. */
const MAX_DIGITS = 7;
const MAX_NAME = 16;

/** Named references that can be part of a tag, in lower case. `&lt` and `&amp` need no semicolon and are not here. */
const NAMED: ReadonlyMap<string, number> = new Map([
  ...["shy", "zwj", "zwnj", "lrm", "rlm", "zerowidthspace", "nobreak"].map((name) => [name, 0x200b] as const),
  ...["nbsp", "ensp", "emsp", "thinsp", "hairsp", "tab", "newline"].map((name) => [name, SPACE] as const),
  ...["lang", "langle", "lsaquo", "leftanglebracket"].map((name) => [name, LESS_THAN] as const),
  ["sol", SLASH],
  ["bsol", BACKSLASH],
  ["lowbar", UNDERSCORE],
  ["underbar", UNDERSCORE],
  ["num", HASH],
  ["percnt", PERCENT],
  ["semi", SEMICOLON],
]);

function isDecimalDigit(reading: number): boolean {
  return reading >= ZERO && reading <= NINE;
}

export function isHexDigit(reading: number): boolean {
  return (reading >= ZERO && reading <= NINE) || (reading >= A && reading <= F);
}

/** Reads a character that an escape stands for: it is never a mark, and HTML takes 0x8b for the single angle quote. */
export function readingOfEscaped(value: number): number {
  if (value === TILDE) return OPAQUE;
  return lookAlike(value === 0x8b ? 0x2039 : value);
}

/** The escape that the topmost reading completes. */
export function completedEscape(codes: Uint8Array, size: number): Escape | null {
  const last = codes[size - 1] ?? OPAQUE;
  if (last === T) {
    const complete = codes[size - 2] === L && codes[size - 3] === AMPERSAND;
    return complete ? { value: LESS_THAN, length: 3, semicolonMayFollow: true } : null;
  }
  if (last === P) {
    const complete = codes[size - 2] === M && codes[size - 3] === A && codes[size - 4] === AMPERSAND;
    return complete ? { value: AMPERSAND, length: 4, semicolonMayFollow: true } : null;
  }
  if (isHexDigit(last)) {
    if (codes[size - 3] === PERCENT) return digitsEscape(codes, size, 2, 1);
    if (codes[size - 3] === X && codes[size - 4] === BACKSLASH) return digitsEscape(codes, size, 2, 2);
    if (codes[size - 5] === U && codes[size - 6] === BACKSLASH) return digitsEscape(codes, size, 4, 2);
    return null;
  }
  if (last === SEMICOLON) return namedReference(codes, size);
  return last === CLOSE_BRACE ? bracedEscape(codes, size) : null;
}

/**
 * `&#x3c` is complete at once, although an `f` could follow as a digit or begin `findings`: no character that matters
 * here has a longer number that begins so. Otherwise a mark after it would change how it is read.
 */
export function hexadecimalBracket(codes: Uint8Array, size: number): Escape | null {
  const number = numberReference(codes, size);
  if (number === null || !number.hexadecimal || readingOfEscaped(number.value) !== LESS_THAN) return null;
  return { value: number.value, length: number.length, semicolonMayFollow: true };
}

/** The `&#60` or `&#x3c` at the top. Only the next character shows whether it is complete. */
export function numberReference(codes: Uint8Array, size: number): NumberReference | null {
  const digitsAt = firstDigit(codes, size);
  const hexadecimal = codes[digitsAt - 1] === X;
  const hash = digitsAt - (hexadecimal ? 2 : 1);
  if (codes[hash] !== HASH || codes[hash - 1] !== AMPERSAND) return null;
  const value = numberFrom(codes, digitsAt, size, hexadecimal ? 16 : 10);
  return value < 0 ? null : { value, length: size - hash + 1, hexadecimal };
}

/** Whether the top is the `0` of `&#0`, `&#x0` or `\u{0`, which a further digit replaces. */
export function endsWithLeadingZero(codes: Uint8Array, size: number): boolean {
  if (codes[size - 1] !== ZERO) return false;
  const prefix = codes[size - 2];
  if (prefix === HASH) return codes[size - 3] === AMPERSAND;
  if (prefix === OPEN_BRACE) return codes[size - 3] === U && codes[size - 4] === BACKSLASH;
  return prefix === X && codes[size - 3] === HASH && codes[size - 4] === AMPERSAND;
}

/** The start of the run of digits that ends at `end`; `end` itself if there are no digits. */
function firstDigit(codes: Uint8Array, end: number): number {
  let at = end;
  while (end - at < MAX_DIGITS && isHexDigit(codes[at - 1] ?? OPAQUE)) at--;
  return at;
}

/** The number that the digits write, or -1 if there are none, or one of another radix, or it names no code point. */
function numberFrom(codes: Uint8Array, from: number, to: number, radix: 10 | 16): number {
  if (from >= to) return -1;
  let value = 0;
  for (let at = from; at < to; at++) {
    const code = codes[at] ?? OPAQUE;
    if (radix === 10 ? !isDecimalDigit(code) : !isHexDigit(code)) return -1;
    value = value * radix + (code <= NINE ? code - ZERO : code - A + 10);
  }
  return value > 0x10ffff ? -1 : value;
}

function digitsEscape(codes: Uint8Array, size: number, digits: number, prefix: number): Escape | null {
  const value = numberFrom(codes, size - digits, size, 16);
  return value < 0 ? null : { value, length: digits + prefix, semicolonMayFollow: false };
}

function bracedEscape(codes: Uint8Array, size: number): Escape | null {
  const digitsAt = firstDigit(codes, size - 1);
  const opens = codes[digitsAt - 1] === OPEN_BRACE && codes[digitsAt - 2] === U && codes[digitsAt - 3] === BACKSLASH;
  const value = opens ? numberFrom(codes, digitsAt, size - 1, 16) : -1;
  return value < 0 ? null : { value, length: size - digitsAt + 3, semicolonMayFollow: false };
}

function namedReference(codes: Uint8Array, size: number): Escape | null {
  const semicolon = size - 1;
  let at = semicolon;
  while (semicolon - at < MAX_NAME && isLetter(codes[at - 1] ?? OPAQUE)) at--;
  if (at === semicolon || codes[at - 1] !== AMPERSAND) return null;
  const value = NAMED.get(String.fromCharCode(...codes.subarray(at, semicolon)));
  return value === undefined ? null : { value, length: size - at + 1, semicolonMayFollow: false };
}

function isLetter(reading: number): boolean {
  return reading >= A && reading <= Z;
}
