// What a character looks like as part of a tag: the table of look-alikes. reserved-tag.ts reads whole tags.
//
// Invariants
// 1. Every code point has one reading: an ASCII character that matters in a tag or in an escape of one (letters in
//    lower case), space, invisible (a reader may drop it), a two-letter sign, or opaque (everything else).
// 2. The table is fixed here and does not come from the engine's Unicode data, so that a frame built under one version
//    of Node is parsed under another. A test compares it with NFKC.
// 3. Only the raw `~` reads as `~`. It is the mark that frame.ts sets, and no look-alike may pass for it.

import { combiningMarkRanges } from "./combining-marks.ts";

/** The readings that are not ASCII characters of their own; from firstPair on come the two-letter signs. */
export const READING = { opaque: 0, invisible: 1, firstPair: 2, lastPair: 6, space: 0x20 } as const;

/** Pairs of letters, from the names of our tags, for which there is a single sign. */
const PAIRS = ["fi", "in", "ns", "ss", "st"] as const;

/** The first or second letter that a sign reads as. */
export function letterOfPair(reading: number, index: 0 | 1): number {
  return PAIRS[reading - READING.firstPair]?.charCodeAt(index) ?? READING.opaque;
}

/** Spelled as code points because several of them are invisible or change under normalisation. */
const LOOK_ALIKES: readonly (readonly [reading: string, codePoints: readonly number[]])[] = [
  ["<", [0x02c2, 0x1438, 0x16b2, 0x2039, 0x226e, 0x2329, 0x276c, 0x276e, 0x2770, 0x27e8, 0x2991, 0x29fc]],
  ["<", [0x3008, 0xfe3f, 0xfe64]],
  ["/", [0x2044, 0x2215, 0x2571, 0x29f8]],
  ["_", [0x2017, 0x203f, 0x2040, 0x2054, 0xfe33, 0xfe34, 0xfe4d, 0xfe4e, 0xfe4f]],
  ["&", [0xfe60]],
  ["#", [0xfe5f]],
  ["%", [0xfe6a]],
  [";", [0x037e, 0xfe14, 0xfe54]],
  ["\\", [0x2216, 0x29f5, 0xfe68]],
  ["{", [0xfe37, 0xfe5b]],
  ["}", [0xfe38, 0xfe5c]],
  ["a", [0x00aa, 0x1d2c, 0x1d43, 0x2090]],
  ["b", [0x1d2e, 0x1d47, 0x212c]],
  ["c", [0x1d9c, 0x2102, 0x212d, 0x216d, 0x217d, 0xa7f2]],
  ["d", [0x1d30, 0x1d48, 0x2145, 0x2146, 0x216e, 0x217e]],
  ["e", [0x1d31, 0x1d49, 0x2091, 0x212f, 0x2130, 0x2147]],
  ["f", [0x1da0, 0x2131, 0xa7f3]],
  ["g", [0x1d33, 0x1d4d, 0x210a, 0x0261, 0x1da2]],
  ["h", [0x02b0, 0x1d34, 0x2095, 0x210b, 0x210c, 0x210d, 0x210e]],
  ["i", [0x0130, 0x0131, 0x1d35, 0x1d62, 0x2071, 0x2110, 0x2111, 0x2139, 0x2148, 0x2160, 0x2170]],
  ["j", [0x02b2, 0x1d36, 0x2149, 0x2c7c]],
  ["k", [0x1d37, 0x1d4f, 0x2096, 0x212a]],
  ["l", [0x02e1, 0x1d38, 0x2097, 0x2112, 0x2113, 0x216c, 0x217c]],
  ["m", [0x1d39, 0x1d50, 0x2098, 0x2133, 0x216f, 0x217f]],
  ["n", [0x1d3a, 0x207f, 0x2099, 0x2115]],
  ["o", [0x00ba, 0x1d3c, 0x1d52, 0x2092, 0x2134]],
  ["p", [0x1d3e, 0x1d56, 0x209a, 0x2119]],
  ["q", [0x211a, 0xa7f4]],
  ["r", [0x02b3, 0x1d3f, 0x1d63, 0x211b, 0x211c, 0x211d]],
  ["s", [0x017f, 0x02e2, 0x209b, 0xa7f1]],
  ["t", [0x1d40, 0x1d57, 0x209c]],
  ["u", [0x1d41, 0x1d58, 0x1d64]],
  ["v", [0x1d5b, 0x1d65, 0x2164, 0x2174, 0x2c7d]],
  ["w", [0x02b7, 0x1d42]],
  ["x", [0x02e3, 0x2093, 0x2169, 0x2179]],
  ["y", [0x02b8]],
  ["z", [0x1dbb, 0x2124, 0x2128]],
  // Cyrillic and Greek letters that look like the letters of the names. None may have a hexadecimal number that begins
  // with that of a bracket (03c1 would): escape-sequence.ts takes `&#x3c` as complete.
  ["a", [0x0391, 0x03b1, 0x0410, 0x0430]],
  ["d", [0x0501]],
  ["e", [0x0395, 0x0415, 0x0435]],
  ["i", [0x0399, 0x03b9, 0x0406, 0x0456]],
  ["m", [0x039c, 0x041c, 0x043c]],
  ["n", [0x039d]],
  ["o", [0x039f, 0x03bf, 0x041e, 0x043e]],
  ["p", [0x03a1, 0x0420, 0x0440]],
  ["s", [0x0405, 0x0455]],
  ["t", [0x03a4, 0x0422, 0x0442]],
  ["y", [0x03a5, 0x0423, 0x0443, 0x04ae, 0x04af]],
];

const PAIR_SIGNS: readonly (readonly [(typeof PAIRS)[number], readonly number[]])[] = [
  ["fi", [0xfb01]],
  ["in", [0x33cc]],
  ["ns", [0x33b1]],
  ["ss", [0x00df, 0x1e9e]],
  ["st", [0xfb05, 0xfb06]],
];

/** Controls, joiners, direction marks, variation selectors, fillers, lone surrogates, U+FFFC, U+FFFD. */
const INVISIBLE_RANGES: readonly (readonly [number, number])[] = [
  [0x00, 0x08],
  [0x0e, 0x1f],
  [0x7f, 0x84],
  [0x86, 0x9f],
  [0xad, 0xad],
  [0x0600, 0x0605],
  [0x061c, 0x061c],
  [0x06dd, 0x06dd],
  [0x070f, 0x070f],
  [0x0890, 0x0891],
  [0x08e2, 0x08e2],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x20d0, 0x20ff],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xfe00, 0xfe0f],
  [0xfe20, 0xfe2f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffd],
];

const INVISIBLE_BEYOND_BASIC_PLANE: readonly (readonly [number, number])[] = [
  [0x110bd, 0x110bd],
  [0x110cd, 0x110cd],
  [0x13430, 0x1343f],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

const SPACE_RANGES: readonly (readonly [number, number])[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0x85, 0x85],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
];

/** The readings of all code points below 0x10000. */
export function basicPlaneReadings(): Uint8Array {
  const table = new Uint8Array(0x10000);
  for (const [first, last] of [...combiningMarkRanges(), ...INVISIBLE_RANGES])
    if (first < table.length) table.fill(READING.invisible, first, last + 1);
  for (const [first, last] of SPACE_RANGES) table.fill(READING.space, first, last + 1);
  for (const ascii of "0123456789&#%;\\{}/<_~") table[ascii.charCodeAt(0)] = ascii.charCodeAt(0);
  for (let letter = 0; letter < 26; letter++) {
    for (const first of [0x41, 0x61, 0x24b6, 0x24d0]) table[first + letter] = 0x61 + letter;
  }
  for (const [reading, codePoints] of LOOK_ALIKES) {
    for (const codePoint of codePoints) table[codePoint] = reading.charCodeAt(0);
  }
  for (const [pair, codePoints] of PAIR_SIGNS) {
    for (const codePoint of codePoints) table[codePoint] = READING.firstPair + PAIRS.indexOf(pair);
  }
  for (let ascii = 0x21; ascii < 0x7e; ascii++) table[ascii + 0xfee0] = table[ascii] ?? READING.opaque;
  return table;
}

const BASIC_PLANE: Readonly<Uint8Array> = basicPlaneReadings();

/** First code points of alphabets A to Z outside the basic plane. */
const ALPHABETS = [0x1ccd6, 0x1f130, 0x1f150, 0x1f170] as const;

const MARKS_BEYOND_BASIC_PLANE = combiningMarkRanges().filter(([first]) => first > 0xffff);

/** Whether one of the ranges, which are in order, holds the code point. */
function markBeyondBasicPlane(codePoint: number): boolean {
  let low = 0;
  let high = MARKS_BEYOND_BASIC_PLANE.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const [first, last] = MARKS_BEYOND_BASIC_PLANE[middle] ?? [0, 0];
    if (codePoint >= first && codePoint <= last) return true;
    if (codePoint < first) high = middle;
    else low = middle + 1;
  }
  return false;
}

function readingBeyondBasicPlane(codePoint: number): number {
  for (const [first, last] of INVISIBLE_BEYOND_BASIC_PLANE) {
    if (codePoint >= first && codePoint <= last) return READING.invisible;
  }
  if (markBeyondBasicPlane(codePoint)) return READING.invisible;
  if (codePoint === 0x1d236) return 0x3c;
  if (codePoint === 0x1f14d) return READING.firstPair + PAIRS.indexOf("ss");
  if (codePoint >= 0x1d400 && codePoint <= 0x1d6a3) return 0x61 + ((codePoint - 0x1d400) % 26);
  if (codePoint === 0x1d6a4) return 0x69;
  if (codePoint === 0x1f12c) return 0x72;
  if (codePoint >= 0x1d7ce && codePoint <= 0x1d7ff) return 0x30 + ((codePoint - 0x1d7ce) % 10);
  if (codePoint >= 0x1fbf0 && codePoint <= 0x1fbf9) return 0x30 + (codePoint - 0x1fbf0);
  for (const first of ALPHABETS) {
    if (codePoint >= first && codePoint < first + 26) return 0x61 + (codePoint - first);
  }
  return READING.opaque;
}

/** The reading of the code point. */
export function lookAlike(codePoint: number): number {
  return codePoint < 0x10000 ? (BASIC_PLANE[codePoint] ?? READING.opaque) : readingBeyondBasicPlane(codePoint);
}
