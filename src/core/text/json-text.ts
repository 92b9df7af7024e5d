// JSON that is safe to print: control characters and those that change the direction of text stand as \uXXXX. It is the same value to whoever
// parses it. JSON itself escapes only the first 32 of them.

const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff]/g;

/** The JSON of a value that JSON can write. Outside of its strings JSON has none of these characters. */
export function jsonText(value: object): string {
  return JSON.stringify(value).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
