import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonText } from "./json-text.ts";

// oxlint-disable-next-line no-control-regex
const PRINTED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff]/;

test("no control character and none that turns text is left, and the value is the same", () => {
  const unit = fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.constantFrom("\u001b", "\u009b", "\u202e", "\u2066", "\u061c", "\\", '"', "\u007f", "\ufeff"),
  );
  const text = fc.array(unit).map((units) => units.join("").toWellFormed());
  fc.assert(
    fc.property(fc.dictionary(text, text), (value) => {
      const json = jsonText(value);
      expect(json).not.toMatch(PRINTED);
      expect(unescaped(json)).toBe(unescaped(JSON.stringify(value)));
    }),
  );
});

/**
 * JSON with each \\uXXXX as its character. The property does not use JSON.parse: that of Node.js 24.21 can read an escaped
 * name of one character as the name of an earlier object, such as {"a":"","\\u001b":""} as "a" and "\\".
 */
function unescaped(json: string): string {
  return json.replaceAll(/\\\\|\\u([0-9a-f]{4})/g, (same, code?: string) =>
    code === undefined ? same : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

test("a text comes back as it was", () => {
  for (const text of ["a\u202eb", "\\u202e", "\\\u009b", '"\u2028\n'])
    expect(JSON.parse(jsonText([text]))).toEqual([text]);
});

test("every character of the ranges is escaped", () => {
  for (let code = 0; code <= 0xffff; code += 1) {
    const character = String.fromCharCode(code);
    if (PRINTED.test(character)) expect(jsonText([character])).toMatch(/^\["\\(u[0-9a-f]{4}|[bfnrt])"\]$/);
  }
});

test("a megabyte of nothing else takes little time", () => {
  for (const character of ["\u009b", "\u202e", "\ufeff", "a"]) {
    const started = process.cpuUsage();
    jsonText([character.repeat(1_000_000)]);
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1_000).toBeLessThan(500);
  }
});
