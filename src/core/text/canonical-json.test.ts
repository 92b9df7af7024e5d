import fc from "fast-check";
import { expect, test } from "vitest";
import { CANONICAL_MAX_DEPTH, CanonicalJsonError, canonicalJson } from "./canonical-json.ts";

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

function codeOf(value: unknown): string | null {
  try {
    canonicalJson(value);
    return null;
  } catch (error) {
    return error instanceof CanonicalJsonError ? error.code : "another error";
  }
}

test("F3: the example of RFC 8785 is written as the RFC writes it", () => {
  const value: unknown = JSON.parse(
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
      '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
  );
  expect(canonicalJson(value)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test("F3: keys are sorted by UTF-16 code units", () => {
  const keys = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u0080", "\u00f6", "10", "2"];
  const sorted = canonicalJson(Object.fromEntries(keys.map((key) => [key, 0])));
  const expected = ["\r", "1", "10", "2", "\u0080", "\u00f6", "\u20ac", "\u{1f600}", "\ufb33"];
  expect(sorted).toBe(`{${expected.map((key) => `${JSON.stringify(key)}:0`).join(",")}}`);
});

test("F3: equal values give equal bytes, whatever the order of their keys, and read back as the same value", () => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, item]) => [key, reversed(item)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const parsed: unknown = JSON.parse(JSON.stringify(value));
      expect(canonicalJson(reversed(parsed))).toBe(canonicalJson(parsed));
      expect(JSON.parse(canonicalJson(parsed))).toEqual(parsed);
    }),
  );
});

test("F3: negative zero is zero, and an own __proto__ is a key like any other", () => {
  expect(canonicalJson([-0])).toBe("[0]");
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}');
});

test("F3, scenario 49: a value nested too deep, or in itself, is a typed error and no stack overflow", () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  expect(codeOf(nested(CANONICAL_MAX_DEPTH))).toBeNull();
  expect(codeOf(nested(CANONICAL_MAX_DEPTH + 1))).toBe("canonical-depth");
  expect(codeOf(nested(1_000_000))).toBe("canonical-depth");
  expect(codeOf(cycle)).toBe("canonical-depth");
});

test("F3, scenario 49: a lone surrogate is refused, in a string and in a key", () => {
  expect(codeOf(["\uD800"])).toBe("canonical-surrogate");
  expect(codeOf({ "\uDC00": 1 })).toBe("canonical-surrogate");
  expect(codeOf("\u{1f600}")).toBeNull();
});

test.each([
  [undefined],
  [Number.NaN],
  [Number.POSITIVE_INFINITY],
  [10n],
  [Symbol("x")],
  [() => 1],
  [new Date(0)],
  [new Map()],
])("F3: %s is no JSON value and is refused, on its own and inside another", (value) => {
  expect(codeOf(value)).toBe("canonical-value");
  expect(codeOf({ a: [value] })).toBe("canonical-value");
});

test("E3: a megabyte is written in linear time", () => {
  const flat = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`key ${at}`, [at, "x"]]));
  const started = performance.now();
  canonicalJson(flat);
  canonicalJson("\u2028".repeat(1 << 20));
  expect(performance.now() - started).toBeLessThan(5_000);
});
