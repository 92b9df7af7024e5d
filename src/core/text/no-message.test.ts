import fc from "fast-check";
import { expect, test } from "vitest";
import { messageNoMessageIs, noMessageCouldBecome } from "./no-message.ts";

test.each(["NO_MESSAGE", "NO_REPLY", " NO_REPLY\n", "\n\tNO_MESSAGE  "])("A6: %j means to say nothing", (text) => {
  expect(messageNoMessageIs(text)).toBe(true);
});

test.each(["", "NO", "no_reply", "NO_REPLY.", "Done. NO_REPLY", "NO_REPLY NO_REPLY", "NO_MESSAGES", "NO REPLY"])(
  "A6: %j is ordinary text",
  (text) => {
    expect(messageNoMessageIs(text)).toBe(false);
  },
);

test("A6: no fragment of a reply that says nothing is let through, wherever the stream is cut", () => {
  const space = fc.array(fc.constantFrom(" ", "\n", "\t", "\u00A0"), { maxLength: 4 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(space, fc.constantFrom("NO_MESSAGE", "NO_REPLY"), space, (before, word, after) => {
      const text = before + word + after;
      for (let length = 0; length <= text.length; length++)
        expect(noMessageCouldBecome(text.slice(0, length))).toBe(true);
    }),
  );
});

test.each(["n", "NOT", "NO_R ", "NO _", "NO_REPLYs", "NO_REPLY x", "NO_MESSAGE.", "Done. NO_", "NO_MESSAGE NO_REPLY"])(
  "A6: %j can be streamed, as it can no longer mean to say nothing",
  (prefix) => {
    expect(noMessageCouldBecome(prefix)).toBe(false);
  },
);

test("A6: text is held back exactly while some ending would make it mean to say nothing", () => {
  const part = fc.constantFrom("N", "O", "_", "NO_", "MESSAGE", "REPLY", "RE", "PLY", " ", "\n", "x");
  const words = ["NO_MESSAGE", "NO_REPLY"];
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const prefix = parts.join("");
      const endings = ["", ...words.flatMap((word) => Array.from(word, (_, at) => word.slice(at)))];
      const possible = endings.some((ending) => messageNoMessageIs(prefix + ending));
      expect(noMessageCouldBecome(prefix)).toBe(possible);
    }),
    { numRuns: 1000 },
  );
});
