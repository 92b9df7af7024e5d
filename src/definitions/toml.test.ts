import fc from "fast-check";
import { expect, test } from "vitest";
import { readToml } from "./toml.ts";

/** Values by key, maps as plain objects. */
function valuesOf(text: string): unknown {
  const read = readToml(text);
  return "problem" in read ? read : Object.fromEntries(read.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: unknown): unknown {
  if (value instanceof Map) {
    return Object.fromEntries([...(value as ReadonlyMap<string, unknown>)].map(([key, inner]) => [key, plain(inner)]));
  }
  return Array.isArray(value) ? value.map((item) => plain(item)) : value;
}

test("every kind of value is read", () => {
  const text = `\uFEFF# a comment
plain = "tab\\t \\"quoted\\" \\u00e9 \\U0001F600" # behind
literal = 'C:\\path\\n'
many = """
first
second "quoted" ""\\
   joined"""""
raw = '''
it's
raw'''
whole = 1_000
negative = -17
hex = 0xff
float = 6.5e3
yes = true
no = false
list = [ 1, 2,
  # inside
  "three", [4], ]
inline = { a = 1, "b c" = "x", d.e = true }
a.b.c = "dotted"
"quoted key" = 1

[table]
x = 1
[table.inner]
y = 2
[[tables]]
n = 1
[[tables]]
n = 2
[tables.sub]
m = 3
`;
  expect(valuesOf(text.replaceAll("\n", "\r\n"))).toEqual({
    plain: 'tab\t "quoted" é 😀',
    literal: "C:\\path\\n",
    many: 'first\nsecond "quoted" ""joined""',
    raw: "it's\nraw",
    whole: 1000,
    negative: -17,
    hex: 255,
    float: 6500,
    yes: true,
    no: false,
    list: [1, 2, "three", [4]],
    inline: { a: 1, "b c": "x", d: { e: true } },
    a: { b: { c: "dotted" } },
    "quoted key": 1,
    table: { x: 1, inner: { y: 2 } },
    tables: [{ n: 1 }, { n: 2, sub: { m: 3 } }],
  });
});

test("unsupported TOML is a problem with its line", () => {
  const cases: readonly (readonly [string, number, string])[] = [
    ["a = 1\na = 2", 2, 'the key "a" is there twice'],
    ["[t]\n[t]", 2, "is there twice"],
    ["a = 1\n[a]\n", 2, "is no table"],
    ["a = [1]\n[[a]]", 2, "no list of tables"],
    ["x = 1\ny = 2024-01-02", 2, "dates and times"],
    ["t = 12:30:00", 1, "dates and times"],
    ["a = bare", 1, "write strings in quotes"],
    ["a = ", 1, "a value was expected"],
    ['\n\na = "open\nb = 1', 3, "not closed"],
    ['a = """open', 1, "not closed"],
    ["a = 'open", 1, "not closed"],
    ['a = "\\q"', 1, "no escape"],
    ['a = "\\ud800"', 1, "no escape"],
    ["a 1", 1, '"=" was expected'],
    ["= 1", 1, "a key was expected"],
    ["a = 1 b = 2", 1, "after the end"],
    ["a = [1, 2", 1, '"]" was expected'],
    ["a = 01", 1, "is no value"],
    ["[[a]]\n[a\n", 2, '"]" was expected'],
    [`a = ${"[".repeat(50_000)}`, 1, "nested deeper"],
    [`${"a.".repeat(20_000)}b = 1`, 1, "more than 32 parts"],
  ];
  for (const [text, line, why] of cases) {
    expect([text.slice(0, 30), valuesOf(text)]).toEqual([
      text.slice(0, 30),
      { problem: expect.stringContaining(why), line },
    ]);
  }
});

test("any text is read or refused quickly, and nothing throws", () => {
  const bits = fc.constantFrom(
    '"',
    "'",
    '"""',
    "'''",
    "\\",
    "\n",
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "#",
    "a",
    "1",
    " ",
    "é",
  );
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 60 }), (parts) => {
      expect(() => readToml(parts.join(""))).not.toThrow();
    }),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.string()), (given) => {
      const text = Object.entries(given).map(
        ([key, value]) => `${key} = ${JSON.stringify(value).replaceAll("\u007f", "\\u007f")}`,
      );
      expect(valuesOf(text.join("\n"))).toEqual({ ...given });
    }),
  );
  const started = process.cpuUsage();
  readToml("a\n".repeat(100_000));
  readToml(Array.from({ length: 20_000 }, (_, index) => `k${index} = ${index}`).join("\n"));
  readToml(`a = "${"\\n".repeat(100_000)}"`);
  readToml(Array.from({ length: 20_000 }, () => "[[t]]").join("\n"));
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(2_000);
}, 30_000);
