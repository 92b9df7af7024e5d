/** Values that no journal can hold as they are. */

import { ModelFailure } from "../../src/index.ts";

export const ANSWERED = "Here is your answer.";
export const NESTED = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;

export function reply(text: string): { parts: unknown; usage: unknown; stop: unknown } {
  return { parts: [{ type: "text", text }], usage: { input: 1, output: 1 }, stop: "end" };
}

class Exotic {
  readonly #hidden = 1;
  get shown(): number {
    return this.#hidden;
  }
}

function cycle(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

const THROWING = new Proxy(
  {},
  {
    get() {
      throw new Error("Hands off.");
    },
    ownKeys() {
      throw new Error("Hands off.");
    },
  },
);

const GETTER = {
  get member(): never {
    throw new Error("Not for you.");
  },
};

/** By what they are. */
const VALUES: readonly (readonly [string, unknown])[] = [
  ["undefined", undefined],
  ["a function", () => 1],
  ["a symbol", Symbol("s")],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["a bigint", 10n],
  ["a date", new Date(0)],
  ["a bad date", new Date(Number.NaN)],
  ["a map", new Map([["a", 1]])],
  ["a class", new Exotic()],
  ["a cycle", cycle()],
  ["a getter that throws", GETTER],
  ["a proxy that throws", THROWING],
  ["toJSON", { toJSON: () => undefined }],
  ["toJSON that throws", { toJSON: () => THROWING }],
  ["a hole", [1, , 3]], // oxlint-disable-line no-sparse-arrays
  ["too deep", deep(20_000)],
  ["half a character", "a\ud800b"],
  ["a zero character", "a\u0000b"],
  ["a bare object", Object.create(null)],
  ["a name like a prototype", JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}')],
];

export const POISONED_REPLIES: readonly (readonly [string, unknown])[] = [
  ...VALUES.map(([what, value]) => [`reply is ${what}`, value] as const),
  ...VALUES.map(([what, value]) => [`parts are ${what}`, { ...reply("x"), parts: value }] as const),
  ...VALUES.map(([what, value]) => [`a part is ${what}`, { ...reply("x"), parts: [value] }] as const),
  ...VALUES.map(
    ([what, value]) => [`text is ${what}`, { ...reply("x"), parts: [{ type: "text", text: value }] }] as const,
  ),
  ...VALUES.map(([what, value]) => [`usage is ${what}`, { ...reply("x"), usage: value }] as const),
  ...VALUES.map(
    ([what, value]) => [`a count is ${what}`, { ...reply("x"), usage: { input: value, output: value } }] as const,
  ),
  ...VALUES.map(([what, value]) => [`stop is ${what}`, { ...reply("x"), stop: value }] as const),
  ...VALUES.map(
    ([what, value]) =>
      [
        `provider data is ${what}`,
        {
          ...reply("x"),
          parts: [
            { type: "reasoning", text: "", data: { value } },
            { type: "text", text: "x" },
          ],
        },
      ] as const,
  ),
  ...[10.3, 1e19, -1, "7", 1e308].map(
    (count) => [`a count is ${count}`, { ...reply("x"), usage: { input: count, output: count } }] as const,
  ),
];

export const POISONED_FAILURES: readonly (readonly [string, unknown])[] = [
  ...VALUES.map(([what, value]) => [`throws ${what}`, value] as const),
  ["throws null", null],
  ...VALUES.map(([what, value]) => [`waits ${what}`, failure({ retryAfterMs: value })] as const),
  ...VALUES.map(([what, value]) => [`used ${what}`, failure({ usage: value })] as const),
  ...VALUES.map(([what, value]) => [`code is ${what}`, failure({ code: value })] as const),
  ...VALUES.map(([what, value]) => [`message is ${what}`, failure({ message: value })] as const),
  ...VALUES.map(([what, value]) => [`retryable is ${what}`, failure({ retryable: value })] as const),
  ...[0.5, -1, 1e19, "1"].map((wait) => [`waits ${wait}`, failure({ retryAfterMs: wait })] as const),
];

/** A failure that is not tried again, with members that its class does not promise. */
function failure(members: Readonly<Record<string, unknown>>): ModelFailure {
  const made = new ModelFailure("provider-error", "No.");
  for (const [name, value] of Object.entries(members)) Object.defineProperty(made, name, { value });
  return made;
}

export const POISONED_OUTPUTS: readonly (readonly [string, unknown])[] = [
  ...VALUES.map(([what, value]) => [`output is ${what}`, value] as const),
  ...VALUES.map(([what, value]) => [`text is ${what}`, { text: value, failed: false }] as const),
  ...VALUES.map(([what, value]) => [`failed is ${what}`, { text: "x", failed: value }] as const),
  ...VALUES.map(
    ([what, value]) => [`more is ${what}`, { text: "x", failed: false, more: value, data: value }] as const,
  ),
];
