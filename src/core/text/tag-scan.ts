// Finds single tags in model text: what counts as an open or a close tag. tag.ts reads what is between them.
//
// Invariants
// 1. Names are whole and compared in ASCII case only: no locale, no Unicode folding, so offsets never shift.
// 2. An open tag ends at the first `>` outside a quoted attribute value. A `<` outside a value ends the attempt:
//    the tag was never finished. `<name/>` holds nothing and is therefore not an open tag.
// 3. A close tag is `</name`, optional white space, `>`.
// 4. Linear: a finder remembers where an attempt failed, so that many unfinished tags cost one scan.

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface OpenTag extends Span {
  readonly name: string;
}

const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const SLASH = 0x2f;
const LESS_THAN = 0x3c;
const EQUALS = 0x3d;
const GREATER_THAN = 0x3e;

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function lower(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}

function nameStandsAt(text: string, at: number, name: string): boolean {
  if (at + name.length > text.length) return false;
  for (let i = 0; i < name.length; i++) {
    if (lower(text.charCodeAt(at + i)) !== lower(name.charCodeAt(i))) return false;
  }
  return true;
}

function nameAt(text: string, at: number, names: readonly string[]): string | null {
  for (const name of names) {
    if (nameStandsAt(text, at, name)) return name;
  }
  return null;
}

/**
 * The offset after the `>` that ends the tag whose attributes begin at `from`, or -1.
 * `tried` holds the offsets, outside any value, from which a scan has run; those that failed fail again.
 */
function tagEnd(text: string, from: number, tried: Set<number>): number {
  let valueMayFollow = false;
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === GREATER_THAN) return i + 1;
    if (code === LESS_THAN) return -1;
    if (valueMayFollow && (code === QUOTE || code === APOSTROPHE)) {
      const close = text.indexOf(code === QUOTE ? '"' : "'", i + 1);
      if (close < 0 || tried.has(close)) return -1;
      tried.add(close);
      i = close;
      valueMayFollow = false;
    } else if (code === EQUALS) {
      valueMayFollow = true;
    } else if (!isSpace(code)) {
      // A quote that follows no `=` is a stray apostrophe, not a value that could swallow the text.
      valueMayFollow = false;
    }
  }
  return -1;
}

/** Returns a function that finds the next open tag of any of the names. Its offsets must grow from call to call. */
export function openTagFinder(text: string, names: readonly string[]): (from: number) => OpenTag | null {
  const tried = new Set<number>();
  return (from) => {
    for (let start = text.indexOf("<", from); start >= 0; start = text.indexOf("<", start + 1)) {
      const name = nameAt(text, start + 1, names);
      if (name === null) continue;
      const nameEnd = start + 1 + name.length;
      const next = text.charCodeAt(nameEnd);
      if (next !== GREATER_THAN && next !== SLASH && !isSpace(next)) continue;
      const end = tagEnd(text, nameEnd, tried);
      if (end < 0) continue;
      if (text.charCodeAt(end - 2) !== SLASH) return { start, end, name };
      start = end - 1;
    }
    return null;
  };
}

function closeTagAt(text: string, start: number, name: string): Span | null {
  if (!nameStandsAt(text, start + 2, name)) return null;
  let at = start + 2 + name.length;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  return text.charCodeAt(at) === GREATER_THAN ? { start, end: at + 1 } : null;
}

export function nextCloseTag(text: string, name: string, from: number): Span | null {
  for (let start = text.indexOf("</", from); start >= 0; start = text.indexOf("</", start + 2)) {
    const close = closeTagAt(text, start, name);
    if (close !== null) return close;
  }
  return null;
}

export function lastCloseTag(text: string, name: string): Span | null {
  for (let start = text.lastIndexOf("</"); start >= 0; start = start === 0 ? -1 : text.lastIndexOf("</", start - 1)) {
    const close = closeTagAt(text, start, name);
    if (close !== null) return close;
  }
  return null;
}
