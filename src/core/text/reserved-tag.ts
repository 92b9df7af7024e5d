// Finds every place in a text that could be read as one of our tags inside a frame (E1). look-alike.ts has the
// look-alikes, escape-sequence.ts the escapes; frame.ts marks what is found.
//
// A find is an opening bracket, then marks `~`, then spaces, slashes and backslashes, then a whole reserved name with
// spaces and backslashes anywhere in it. Each of its characters may be a look-alike, or escaped to any depth, and
// invisible characters may stand anywhere. A closing bracket is not required, because the frame has one.
//
// Invariants
// 1. A find does not depend on how many marks follow its bracket: setting or removing a mark directly after the bracket
//    leaves every find a find and makes no new one. This makes the escape of frame.ts exact. It holds because neither a
//    bracket nor a mark is part of any escape sequence, so that nothing is ever read across them.
// 2. An ASCII name character directly after the name makes it another name: `<responses>` and `<say-so>` are no finds.
// 3. Linear: one pass, in which each reading is pushed once and looks back over a bounded distance.
// 4. An invisible character inside an escape is skipped, but ends a hexadecimal reference that already reads as a part
//    of a tag; so does a digit that is a look-alike. So `&#x6<ZWSP>d;essage` and `&#x6d<ZWSP>essage` are both found,
//    whether a reader first drops and folds characters or first undoes escapes.

import {
  completedEscape,
  endsWithLeadingZero,
  FLOOR_DEPTH,
  hexadecimalBracket,
  isHexDigit,
  LAST_OF_ESCAPE,
  type NumberReference,
  numberReference,
  readingOfEscaped,
} from "./escape-sequence.ts";
import { basicPlaneReadings, letterOfPair, lookAlike, READING } from "./look-alike.ts";

export const RESERVED_TAGS = ["system_message", "message_for_user", "findings", "response", "say"] as const;

/** What frame.ts sets directly after the bracket of a find. */
export const MARK = "~";

const INITIALS: ReadonlySet<number> = new Set<number>(RESERVED_TAGS.map((name) => name.charCodeAt(0)));
const RESERVED_NAMES = RESERVED_TAGS.map((name) => Array.from(name, (letter) => letter.charCodeAt(0)));

const BASIC_PLANE = basicPlaneReadings();

// Local names, because the loops below run once for each character.
const FLOOR = FLOOR_DEPTH;
const OPAQUE = READING.opaque;
const INVISIBLE = READING.invisible;
const SPACE = READING.space;
const isDigit = isHexDigit;
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
const CLOSE_BRACE = 0x7d;
const TILDE = 0x7e;

const COMPLETES_ESCAPE = Uint8Array.from({ length: 0x80 }, (_, code) =>
  LAST_OF_ESCAPE.includes(String.fromCharCode(code)) ? 1 : 0,
);

/** The size of the stack when it holds a bracket and the shortest name. */
const SHORTEST_TAG = FLOOR + 1 + Math.min(...RESERVED_TAGS.map((name) => name.length));

/** True if a character follows that makes the name longer than ours. */
function goesOnWith(text: string, at: number): boolean {
  const code = text.charCodeAt(at) | 0;
  const letter = code | 0x20;
  if ((letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x3a)) return true;
  return code === 0x2d || code === 0x2e || code === UNDERSCORE;
}

/** A bracket opens a tag; the others open an escape. All else is skipped until one of them comes. */
function startsStack(reading: number): boolean {
  return reading === LESS_THAN || reading === AMPERSAND || reading === PERCENT || reading === BACKSLASH;
}

function isLetter(reading: number): boolean {
  return reading >= 0x61 && reading <= 0x7a;
}

function isPairSign(reading: number): boolean {
  return reading >= READING.firstPair && reading <= READING.lastPair;
}

function takesPartInTag(value: number): boolean {
  // Modifier letters are the one block whose hexadecimal numbers begin those of other letters.
  if (value >= 0x1d00 && value <= 0x1dbf) return false;
  const reading = readingOfEscaped(value);
  return reading === SLASH || reading === UNDERSCORE || isLetter(reading) || isPairSign(reading);
}

/** The offsets just after the opening bracket of each find, ascending. */
export function reservedTagOpenings(text: string): number[] {
  const found: number[] = [];
  // The stack: readings since the last bracket, and where each ends in the text. A sign that reads as two letters takes
  // two entries, so the capacity is double.
  const codes = new Uint8Array(FLOOR + 2 * text.length);
  const ends = new Int32Array(FLOOR + 2 * text.length);
  let size = FLOOR;
  // Whether the stack is a bracket after which no name has begun; a letter that begins none ends it at once.
  let nameAwaited = false;
  // Whether the stack holds something that can begin an escape, or a number reference. Other text needs no look back.
  let escapeBegun = false;
  let numberBegun = false;
  // How many semicolons may still belong to escapes that were complete without one, and whether the top of the stack
  // came from such an escape.
  let semicolons = 0;
  let topWasEscaped = false;

  const clear = (): void => {
    if (size >= SHORTEST_TAG && codes[FLOOR] === LESS_THAN && namesReservedTag(text, codes, ends, size)) {
      found.push(ends[FLOOR] ?? 0);
    }
    size = FLOOR;
    nameAwaited = false;
    escapeBegun = false;
    numberBegun = false;
  };

  const place = (reading: number, end: number): void => {
    codes[size] = reading;
    ends[size] = end;
    size++;
  };

  /** Pushes a reading and undoes the escape that it completes. The outcome is pushed in the same way. */
  const push = (first: number, end: number): void => {
    for (let reading = first; ;) {
      if (reading === INVISIBLE) return;
      if (reading === OPAQUE || reading === LESS_THAN) clear();
      if (reading === OPAQUE || (size === FLOOR && !startsStack(reading))) return;
      if (nameAwaited) {
        if (isLetter(reading) && !INITIALS.has(reading)) {
          clear();
          return;
        }
        nameAwaited = reading === SPACE || reading === SLASH || reading === TILDE;
      }
      if (reading < SPACE) {
        place(letterOfPair(reading, 0), end);
        place(letterOfPair(reading, 1), end);
        return;
      }
      if (reading === LESS_THAN) nameAwaited = true;
      else if (startsStack(reading)) escapeBegun = true;
      else if (reading === HASH) numberBegun = true;
      if (!escapeBegun || COMPLETES_ESCAPE[reading] === 0) {
        place(reading, end);
        return;
      }
      if (codes[size - 1] === ZERO && isDigit(reading) && endsWithLeadingZero(codes, size)) size--;
      place(reading, end);
      const escape = completedEscape(codes, size) ?? (numberBegun ? hexadecimalBracket(codes, size) : null);
      if (escape === null) {
        if (reading === SEMICOLON || reading === CLOSE_BRACE) clear();
        return;
      }
      size -= escape.length;
      if (escape.semicolonMayFollow) {
        semicolons++;
        topWasEscaped = true;
      }
      reading = readingOfEscaped(escape.value);
    }
  };

  const endNumber = (number: NumberReference): void => {
    const end = ends[size - 1] ?? 0;
    const reading = readingOfEscaped(number.value);
    size -= number.length;
    semicolons++;
    topWasEscaped = reading !== INVISIBLE;
    push(reading, end);
  };

  /** Ends the number references that the reading does not continue. */
  const endNumbers = (reading: number, asciiDigit: boolean): void => {
    for (let number = numberReference(codes, size); number !== null; number = numberReference(codes, size)) {
      const goesOn =
        reading === INVISIBLE || (number.hexadecimal ? isDigit(reading) : reading >= ZERO && reading <= NINE);
      if (goesOn && (asciiDigit || !number.hexadecimal || !takesPartInTag(number.value))) return;
      endNumber(number);
      // A semicolon ends the innermost reference only.
      if (reading === SEMICOLON) return;
    }
  };

  const read = (reading: number, end: number, ascii: boolean): void => {
    if (numberBegun && isDigit(codes[size - 1] ?? OPAQUE)) endNumbers(reading, ascii && reading !== INVISIBLE);
    if (reading === INVISIBLE) return;
    if (reading === SEMICOLON && semicolons > 0) {
      semicolons--;
      // A bracket includes its semicolon, because the mark goes behind it. A letter need not: `;` ends a name.
      if (topWasEscaped && codes[size - 1] === LESS_THAN) ends[size - 1] = end;
      return;
    }
    semicolons = 0;
    push(reading, end);
  };

  for (let at = 0; at < text.length;) {
    const unit = text.charCodeAt(at);
    const codePoint = unit >= 0xd800 && unit <= 0xdbff ? (text.codePointAt(at) ?? unit) : unit;
    at += codePoint > 0xffff ? 2 : 1;
    const reading = codePoint > 0xffff ? lookAlike(codePoint) : (BASIC_PLANE[codePoint] ?? OPAQUE);
    if (size > FLOOR || startsStack(reading)) read(reading, at, codePoint < 0x80);
  }
  read(OPAQUE, text.length, true);
  return found;
}

/** Whether the readings from a bracket on name one of our tags. */
function namesReservedTag(text: string, codes: Uint8Array, ends: Int32Array, size: number): boolean {
  let nameAt = FLOOR + 1;
  while (nameAt < size && codes[nameAt] === TILDE) nameAt++;
  while (nameAt < size && (codes[nameAt] === SPACE || codes[nameAt] === SLASH || codes[nameAt] === BACKSLASH)) nameAt++;
  for (const name of RESERVED_NAMES) {
    const last = lastOfName(name, nameAt, codes, size);
    if (last >= 0) return !goesOnWith(text, ends[last] ?? 0);
  }
  return false;
}

/** The place of the name's last letter if the name stands at `from`, else -1. */
function lastOfName(name: readonly number[], from: number, codes: Uint8Array, size: number): number {
  let at = from;
  for (const letter of name) {
    while (at < size && (codes[at] === SPACE || codes[at] === BACKSLASH)) at++;
    if (at >= size || codes[at] !== letter) return -1;
    at++;
  }
  return at - 1;
}
