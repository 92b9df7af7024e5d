import fc from "fast-check";
import { expect, test } from "vitest";
import { codePointsPrefix, cutToBytes, utf8Length } from "./bytes.ts";

const units = fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff })));
const anyText = units.map((codes) => String.fromCharCode(...codes));

test("D7: the length is the number of bytes that an encoder writes, for every string", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
});

test("D7: a cut is the longest beginning that fits and splits no code point", () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 0, max: 60 }), (text, maxBytes) => {
      const cut = cutToBytes(text, maxBytes);
      const taken = Array.from(cut).length;
      expect(text.startsWith(cut)).toBe(true);
      expect(Array.from(text).slice(0, taken).join("")).toBe(cut);
      expect(utf8Length(cut)).toBeLessThanOrEqual(maxBytes);
      if (cut !== text)
        expect(
          utf8Length(
            Array.from(text)
              .slice(0, taken + 1)
              .join(""),
          ),
        ).toBeGreaterThan(maxBytes);
    }),
  );
});

test("D7: a surrogate pair stays whole and a lone surrogate counts 3 bytes", () => {
  expect(cutToBytes("a😀b", 4)).toBe("a");
  expect(cutToBytes("a😀b", 5)).toBe("a😀");
  expect(utf8Length("\uD83D")).toBe(3);
  expect(cutToBytes("\uD83D\uD83D\uDE00", 6)).toBe("\uD83D");
  expect(cutToBytes("abc", -1)).toBe("");
  expect(cutToBytes("abc", Number.NaN)).toBe("");
});

test("D4, F8: a prefix counts code points", () => {
  expect(codePointsPrefix("a😀b", 2)).toBe("a😀");
  expect(codePointsPrefix("a😀b", 0)).toBe("");
  fc.assert(
    fc.property(anyText, fc.integer({ min: 0, max: 20 }), (text, count) => {
      expect(codePointsPrefix(text, count)).toBe(Array.from(text).slice(0, count).join(""));
    }),
  );
});

test.each(["a", "é", "漢", "😀", "\uD800", "\uDC00"])(
  "E3: a megabyte of %j is measured and cut in linear time",
  (unit) => {
    const text = unit.repeat((1 << 20) / unit.length);
    const started = performance.now();
    utf8Length(text);
    cutToBytes(text, 1 << 20);
    codePointsPrefix(text, 1 << 20);
    expect(performance.now() - started).toBeLessThan(5_000);
  },
);
