import fc from "fast-check";
import { expect, test } from "vitest";
import { PLAIN_DEPTH, plainJson, wholeNumber } from "./plain-json.ts";

test("plain JSON stays as it is, and is a copy", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(plainJson(value)).toEqual({ json: JSON.parse(JSON.stringify(value)) });
    }),
  );
  const given = { list: [1] };
  const plain = plainJson(given);
  given.list.push(2);
  expect(plain).toEqual({ json: { list: [1] } });
});

test("whatever the value, nothing throws and what comes back is JSON", () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withSparseArray: true }),
      (value) => {
        const plain = plainJson(value);
        if ("json" in plain) expect(JSON.parse(JSON.stringify(plain.json))).toEqual(plain.json);
      },
    ),
  );
});

test("what JSON leaves out is left out, and what is no number is null", () => {
  const value = { a: undefined, b: () => 1, c: Symbol("c"), d: [undefined, Number.NaN], e: Number.POSITIVE_INFINITY };
  expect(plainJson(value)).toEqual({ json: { d: [null, null], e: null } });
  expect(plainJson({ "\ud800": "a\ud800" })).toEqual({ json: { "\ufffd": "a\ufffd" } });
  const named = plainJson(JSON.parse('{"__proto__":{"x":1}}'));
  expect(JSON.stringify(named)).toBe('{"json":{"__proto__":{"x":1}}}');
});

test.each([
  ["a bigint", 1n, "it holds a bigint"],
  ["a date", [new Date(0)], "it holds an object that is not plain"],
  ["a map", new Map(), "it holds an object that is not plain"],
  ["what is too large", ["x".repeat(100)], "it is larger than 100 characters"],
  ["an array of any length", [Array.from({ length: 50 })], "it is larger than 100 characters"],
])("%s is refused", (_, value, problem) => {
  const large = problem.startsWith("it is larger") ? { large: true } : {};
  expect(plainJson(value, { size: 100 })).toEqual({ problem, ...large });
});

test("a cycle and a value that is nested too deep are refused", () => {
  const cycle: unknown[] = [];
  cycle.push(cycle, cycle);
  const problem = `it is nested deeper than ${PLAIN_DEPTH} levels, or holds itself`;
  expect(plainJson(cycle)).toEqual({ problem });
});

test("a proxy cannot lie about its length, nor throw", () => {
  const proxy = new Proxy([1], { get: (_, name) => (name === "length" ? Number.NaN : 1) });
  expect(plainJson(proxy)).toHaveProperty("problem");
  const throwing = new Proxy({}, { getPrototypeOf: () => void fail() as never });
  expect(plainJson(throwing)).toEqual({ problem: "it cannot be read" });
});

function fail(): never {
  throw new Error("Hands off.");
}

test("a count is whole, from zero and bounded", () => {
  expect(
    [10.3, 1e19, Number.POSITIVE_INFINITY, 0, -0.5, -1, Number.NaN, "7", null].map((n) => wholeNumber(n, 100)),
  ).toEqual([11, 100, 100, 0, null, null, null, null, null]);
});
