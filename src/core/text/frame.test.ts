import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  frameBuild,
  type FrameName,
  FrameOriginError,
  frameParse,
  messageBuildSystemText,
  messageBuildUserFacing,
} from "./frame.ts";

const NAMES: readonly FrameName[] = ["system_message", "message_for_user", "findings"];
const TAGS = ["system_message", "message_for_user", "findings", "response", "say"];

/** Written apart from the code under test, with other means: the engine's Unicode data, patterns, repeated passes. */
const INVISIBLE = new RegExp(
  "[\\p{Default_Ignorable_Code_Point}\\p{M}\\p{Cf}\\p{Cs}\\uFFFC\\uFFFD]|[\\u1AB0-\\u1AFF]|[\\u1DC0-\\u1DFF]|" +
    "[\\u20D0-\\u20FF]|[\\uFE20-\\uFE2F]|(?![\\t-\\r\\x85])\\p{Cc}",
  "gu",
);
const BRACKETS = /[\u02C2\u1438\u16B2\u2039\u2329\u276C\u276E\u2770\u27E8\u2991\u29FC\u3008\u{1D236}]/gu;
const READABLE = new RegExp(
  `<[\\s\\\\/]*(${TAGS.map((tag) => [...tag].join("[\\s\\\\]*")).join("|")})(?![a-z0-9_.:-])`,
  "g",
);
const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  amp: "&",
  sol: "/",
  lowbar: "_",
  shy: "\u00AD",
  nbsp: " ",
  lsaquo: "<",
};

const point = (digits: string, radix: number): string => {
  const value = Number.parseInt(digits, radix);
  return value > 0x10ffff ? "\uFFFD" : String.fromCodePoint(value === 0x8b ? 0x2039 : value);
};
const drop = (text: string): string =>
  text.normalize("NFKD").replace(INVISIBLE, "").replace(BRACKETS, "<").toLowerCase().replace(/ß/g, "ss");
const decode = (text: string): string =>
  text
    .replace(/&#x([0-9a-f]+);?/gi, (_, digits: string) => point(digits, 16))
    .replace(/&#([0-9]+);?/g, (_, digits: string) => point(digits, 10))
    .replace(/&(sol|lowbar|shy|nbsp|lsaquo);/gi, (all, name: string) => ENTITIES[name.toLowerCase()] ?? all)
    .replace(/&(lt|amp);?/gi, (all, name: string) => ENTITIES[name.toLowerCase()] ?? all)
    .replace(
      /\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|%([0-9a-f]{2})|\\u\{([0-9a-f]+)\}/gi,
      (_, ...digits: (string | undefined)[]) => point(digits.slice(0, 4).find((run) => run !== undefined) ?? "0", 16),
    );

function readings(text: string): string[] {
  const seen: string[] = [];
  for (const order of [
    [drop, decode],
    [decode, drop],
  ] as const) {
    let current = text;
    for (let round = 0; round < 8; round++) {
      seen.push(drop(current));
      const next = order[1](order[0](current));
      if (next === current) break;
      current = next;
    }
  }
  return seen;
}

function readableTags(text: string): string[] {
  return readings(text)
    .map((reading) => reading.match(READABLE) ?? [])
    .reduce<string[]>((most, found) => (found.length > most.length ? found : most), []);
}

function content(name: FrameName, origin: string, text: string): string {
  return frameBuild(name, origin, text).slice(`<${name} origin="${origin}">\n`.length, -`\n</${name}>`.length);
}

function expectSound(name: FrameName, origin: string, text: string): void {
  const frame = frameBuild(name, origin, text);
  expect(frameParse(name, frame)).toEqual({ text, origin });
  expect(readableTags(content(name, origin, text))).toEqual([]);
  expect(readableTags(frame)).toEqual([`<${name}`, `</${name}`]);
}

const FILL = [
  "\u200B",
  "\u00AD",
  "\u202E",
  "\uFE0F",
  "\uD800",
  "\u0301",
  " ",
  "\t",
  "\n",
  "\u{E0020}",
  "\0",
  "&#8203;",
  "&shy;",
];
const OPENINGS = [
  "<",
  "</",
  "< /",
  "＜",
  "﹤",
  "‹",
  "〈",
  "⟨",
  "❮",
  "≮",
  "\u{1D236}",
  "<<",
  "<~",
  "<~~",
  "</~",
  "<\\/",
  "&lt;",
  "&lt",
  "&LT;",
  "&#60;",
  "&#60",
  "&#x3c;",
  "&#x3c",
  "&#X0003C;",
  "&#xff1c;",
  "&amp;lt;",
  "&amp;amp;lt;",
  "&amp;#60;",
  "&am&#112;;lt;",
  "&lt~",
  "&#x3c~",
  "%3c",
  "%253C",
  "\\u003c",
  "\\x3c",
  "\\u{03c}",
  "＆lt；",
  "&#139;",
];
const CLOSINGS = [">", "＞", " >", "/>", ' origin="system">', "", ";", "s>", "-x>", "&gt;", "\u200Bx>", "&#62;"];

const hostileName = fc
  .constantFrom(...TAGS)
  .chain((tag) =>
    fc.tuple(
      ...[...tag].map((letter) =>
        fc.tuple(
          fc.constantFrom(
            letter,
            letter,
            letter,
            letter,
            letter.toUpperCase(),
            `&#${letter.charCodeAt(0)};`,
            `&#x${letter.charCodeAt(0).toString(16)}`,
            letter === "_" ? "＿" : String.fromCharCode(letter.charCodeAt(0) + 0xfee0),
          ),
          fc.oneof({ weight: 12, arbitrary: fc.constant("") }, { weight: 1, arbitrary: fc.constantFrom(...FILL) }),
        ),
      ),
    ),
  );
const hostileTag = fc
  .tuple(fc.constantFrom(...OPENINGS), fc.constantFrom("", "", ...FILL), hostileName, fc.constantFrom(...CLOSINGS))
  .map(([opening, fill, name, closing]) => opening + fill + name.map((pair) => pair.join("")).join("") + closing);
const anyUnits = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));
const fragment = fc.constantFrom(
  ...OPENINGS,
  ...FILL,
  ...CLOSINGS,
  ...TAGS,
  "&",
  "#",
  "x",
  "3",
  "c",
  "6",
  "0",
  ";",
  "~",
  "f",
  "%",
  "\\u",
  "{",
  "}",
  "s",
  "ay",
  "ﬁ",
  "ß",
);
const hostileText = fc
  .array(fc.oneof(hostileTag, anyUnits, fragment, fc.string({ unit: "binary", maxLength: 8 })), { maxLength: 12 })
  .map((parts) => parts.join(""));
const origin = fc.stringMatching(/^[A-Za-z0-9_.:-]{1,20}$/);

describe("the round trip", () => {
  test("E1: any text in any frame comes back exactly, and only the frame's own tags can be read", () => {
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), origin, hostileText, (name, from, text) => expectSound(name, from, text)),
      { numRuns: 4000 },
    );
  });

  test("E1: nested frames unwrap to what was wrapped", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        let wrapped = text;
        for (const name of NAMES) wrapped = frameBuild(name, "a", wrapped);
        for (const name of NAMES.toReversed()) wrapped = frameParse(name, wrapped)?.text ?? "lost";
        expect(wrapped).toBe(text);
      }),
    );
  });

  test("E1: whatever parses is what building it again would give", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const frame = `<findings origin="a">\n${text}\n</findings>`;
        const parsed = frameParse("findings", frame);
        if (parsed !== null) expect(frameBuild("findings", parsed.origin, parsed.text)).toBe(frame);
      }),
      { numRuns: 4000 },
    );
  });

  test.each([
    "",
    "\n",
    "\uD800",
    "\uDC00<say>\uD800",
    "~",
    "<",
    "<say",
    "</findings",
    "a\r\nb",
    "<~say>",
    "&#x3cfindings>",
  ])("E1: the boundary case %j comes back exactly", (text) => expectSound("findings", "a", text));
});

describe("what is seen", () => {
  test("E1: every character that NFKC makes part of a tag is seen", () => {
    const missed: string[] = [];
    for (let codePoint = 0x80; codePoint <= 0x1ffff; codePoint++) {
      const sign = String.fromCodePoint(codePoint);
      const plain = sign.normalize("NFKC").toLowerCase();
      if (plain === "<" && content("findings", "a", `${sign}say>`) === `${sign}say>`)
        missed.push(codePoint.toString(16));
      for (const tag of /^[a-z_]{1,2}$/.test(plain) ? TAGS.filter((name) => name.includes(plain)) : []) {
        const text = `<${tag.replace(plain, sign)}>`;
        if (content("findings", "a", text) === text) missed.push(codePoint.toString(16));
      }
    }
    expect(missed).toEqual([]);
  });

  test("E1: every character that a reader may drop or take for a space is passed over, wherever it stands", () => {
    const missed: string[] = [];
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
      const sign = String.fromCodePoint(codePoint);
      if (sign.replace(INVISIBLE, "").trim() !== "") continue;
      const text = `<${sign}/${sign}s${sign}ay${sign}>`;
      if (content("findings", "a", text) !== `<~${text.slice(1)}`) missed.push(codePoint.toString(16));
    }
    expect(missed).toEqual([]);
  });
});

test('C3: a missing origin is a typed error at building, never the origin "undefined"', () => {
  expect(() => messageBuildUserFacing("text", undefined)).toThrow(FrameOriginError);
  expect(() => messageBuildSystemText("text", undefined)).toThrow(FrameOriginError);
  expect(() => messageBuildUserFacing("text", "")).toThrow(FrameOriginError);
});
