import { expect, test } from "vitest";
import { lookAlike, READING } from "./look-alike.ts";
import { RESERVED_TAGS, reservedTagOpenings } from "./reserved-tag.ts";

/** A tag in which the sign stands for what it reads as; null if our names have no such place. */
function disguised(reading: number, sign: string): string | null {
  const plain = String.fromCharCode(reading);
  if (reading === READING.invisible || reading === READING.space) return `<${sign}/sa${sign}y>`;
  if (plain === "<") return `${sign}say>`;
  if (plain === "/") return `<${sign}say>`;
  const name = RESERVED_TAGS.find((tag) => tag.includes(plain));
  return name === undefined ? null : `<${name.replace(plain, sign)}>`;
}

test("E1: every look-alike is seen, raw and by number, whatever longer number it begins", () => {
  const missed: string[] = [];
  for (let codePoint = 0; codePoint <= 0x1ffff; codePoint++) {
    // HTML takes this control character, by number, for a bracket.
    if (codePoint === 0x8b) continue;
    const reading = lookAlike(codePoint);
    const [hex, decimal] = [codePoint.toString(16), codePoint.toString(10)];
    for (const sign of [
      String.fromCodePoint(codePoint),
      `&#x${hex};`,
      `&#${decimal};`,
      `\\u{${hex}}`,
      `&amp;#x${hex};`,
    ]) {
      const text = disguised(reading, sign);
      if (text !== null && reservedTagOpenings(text).length !== 1) missed.push(text);
    }
  }
  expect(missed).toEqual([]);
});

test.each([
  ["a reference made of references", "&#&#54;0;say>"],
  ["leading zeros", "&#00000000000060;say>"],
  ["leading zeros in hexadecimal", "&#x0000000000003c;say>"],
  ["leading zeros in braces", "\\u{0000000000003c}say>"],
  ["a named reference inside a named reference", "&am&#112;;lt;say>"],
  ["a percent sign escaped twice", "%25253csay>"],
  ["an underscore escaped for Markdown", "<system\\_message>"],
  ["a slash escaped for JSON", "<\\/say>"],
  ["an invisible character by number", "<s&#x61c;ay>"],
  ["an invisible character inside a number", "&#x3\u200Bc;say>"],
  ["an invisible character after a number without semicolon", "<system_&#x6d\u200Bessage>"],
  ["a look-alike digit after a number without semicolon", "<system_&#x6d\uFF45ssage>"],
])("E1: a tag disguised by %s is seen", (_, text) => {
  expect(reservedTagOpenings(text)).toHaveLength(1);
});

test("E1: the place given is just after the bracket and the semicolon that belongs to it", () => {
  expect(reservedTagOpenings("a <say> &lt;say> &ltsay> &#60\u200B;say> \u{1D236}say")).toEqual([3, 12, 20, 31, 38]);
});

test.each(["<&#126;say>", "<\uFF5Esay>", "< ~say>", "<!say>", "<a say>", "&lt;;say>"])(
  "E1: %j is not read as one of our tags",
  (text) => {
    expect(reservedTagOpenings(text)).toEqual([]);
  },
);
