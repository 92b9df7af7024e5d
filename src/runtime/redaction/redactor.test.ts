import fc from "fast-check";
import { expect, test } from "vitest";
import { REDACTED } from "../../core/text/index.ts";
import { createRedactor } from "./redactor.ts";

const SECRET = 'sk-live/9+Zq"x=ärger';

const secrets = fc.string({ unit: "grapheme", minLength: 8, maxLength: 60 }).filter((text) => text.trim().length >= 8);

test("I28: a secret is found plain, in JSON, URL-encoded and in base64 with anything before and after it", () => {
  fc.assert(
    fc.property(secrets, fc.string(), fc.string(), (secret, before, after) => {
      const { text } = createRedactor([secret]);
      const whole = before + secret.trim() + after;
      const shown = [
        text(whole),
        text(JSON.stringify({ whole })),
        text(encodeURIComponent(before) + encodeURIComponent(secret.trim())),
      ];
      for (const one of shown) expect(one).toContain(REDACTED);
      for (const encoding of ["base64", "base64url"] as const) {
        const clean = text(Buffer.from(whole).toString(encoding));
        expect(Buffer.from(clean.replace(REDACTED, ""), encoding).toString()).not.toContain(secret.trim());
      }
    }),
  );
});

test("a text without a secret is unchanged, and redacting twice has no further effect", () => {
  const { text, json } = createRedactor([SECRET]);
  const harmless = { a: ["sk-live", { b: "9+Zq" }], c: null };
  expect(json(harmless)).toBe(harmless);
  const once = text(`key ${SECRET}, again ${SECRET}`);
  expect(once).toBe(`key ${REDACTED}, again ${REDACTED}`);
  expect(text(once)).toBe(once);
});

test("names and values of nested JSON are redacted, and its shape stays", () => {
  const { json } = createRedactor([SECRET]);
  expect(json({ list: [1, { [`x${SECRET}`]: SECRET }] })).toEqual({ list: [1, { [`x${REDACTED}`]: REDACTED }] });
});

test("short values are not secrets, and without secrets nothing is changed", () => {
  const { text } = createRedactor(["ollama", "", "  "]);
  expect(text("ollama runs here")).toBe("ollama runs here");
});

test("two secrets, one inside the other, are both removed", () => {
  const { text } = createRedactor(["abcdefgh", "xxabcdefghyy"]);
  expect(text("xxabcdefghyy abcdefgh")).toBe(`${REDACTED} ${REDACTED}`);
});

test("I28: a secret that is streamed in pieces never reaches a reader, and all other text does", () => {
  fc.assert(
    fc.property(secrets, fc.array(fc.nat(7)), fc.string(), (secret, sizes, around) => {
      const key = secret.trim();
      fc.pre(!around.includes(key.slice(0, 1)));
      const whole = `${around}${key}${around}${key.slice(0, 4)}`;
      const pieces: string[] = [];
      const stream = createRedactor([secret]).stream((piece) => pieces.push(piece));
      let at = 0;
      for (const size of [...sizes, whole.length]) {
        stream.onText(whole.slice(at, at + size));
        at += size;
      }
      stream.end();
      expect(pieces.join("")).toBe(createRedactor([secret]).text(whole));
    }),
  );
});
