// JSON that is safe to print: control characters, and those that change the direction of text, stand as \uXXXX.
// Parsing it gives the same value. JSON itself escapes only the first 32 control characters.

const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff]/;

/** First and last of each range above. */
const RANGES = [
  [0x7f, 0x9f],
  [0x61c, 0x61c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2066, 0x206f],
  [0xfeff, 0xfeff],
] as const;

/** The JSON of a value that JSON can write. Outside of its strings JSON has none of these characters. */
export function jsonText(value: object): string {
  const json = JSON.stringify(value);
  return UNSAFE.test(json) ? escaped(json) : json;
}

/** One replacement for each of these characters: a function call for each match would be slow for a million of them. */
function escaped(json: string): string {
  let text = json;
  for (const [first, last] of RANGES) {
    for (let code = first; code <= last; code += 1) {
      text = text.replaceAll(String.fromCharCode(code), `\\u${code.toString(16).padStart(4, "0")}`);
    }
  }
  return text;
}
