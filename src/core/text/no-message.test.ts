import fc from "fast-check";
import { expect, test } from "vitest";
import { messageNoMessageIs, messageSaid, noMessageHeld } from "./no-message.ts";

test.each(["NO_MESSAGE", "NO_REPLY", " NO_REPLY\n", "\n\tNO_MESSAGE  "])("A6: %j means to say nothing", (text) => {
  expect(messageNoMessageIs(text)).toBe(true);
  expect(messageSaid(text)).toBe("");
});

test.each(["", "NO", "no_reply", "NO_REPLY.", "Done. NO_REPLY", "NO_REPLY NO_REPLY", "NO_MESSAGES", "NO REPLY"])(
  "A6: %j is ordinary text",
  (text) => {
    expect(messageNoMessageIs(text)).toBe(false);
    expect(messageSaid(text)).toBe(text);
  },
);

test.each([
  ["Done.\nNO_REPLY", "Done."],
  ["Done.\n\n  NO_REPLY \n", "Done."],
  ["Done.\r\nNO_MESSAGE", "Done."],
  ["one\nNO_REPLY\nNO_REPLY", "one\nNO_REPLY"],
  ["NO_REPLY\nbut this", "NO_REPLY\nbut this"],
  ["say NO_REPLY\n", "say NO_REPLY\n"],
])("A6: of %j the user is shown %j", (text, said) => {
  expect(messageSaid(text)).toBe(said);
});

test.each([
  ["NO_RE", 5],
  ["NO_REPLY ", 9],
  ["hello\n\nNO_", 5],
  ["hello \n", 2],
  ["hello NO_", 0],
  ["NO_R ", 1],
  ["NO_REPLY x", 0],
])("A6: of the stream %j the last %i characters are held back", (text, held) => {
  expect(noMessageHeld(text, true)).toBe(held);
});

test("A6: the beginning of a word in the middle of a line that was partly said is not held back", () => {
  expect(noMessageHeld("NO_RE", false)).toBe(0);
});

test("A6: what a stream lets through is the beginning of what is said, whatever follows", () => {
  const part = fc.constantFrom(
    "N",
    "O",
    "_",
    "NO_",
    "MESSAGE",
    "REPLY",
    "NO_REPLY",
    "RE",
    "PLY",
    " ",
    "\n",
    "\r\n",
    "x",
  );
  const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, text, (begun, rest) => {
      const through = begun.slice(0, begun.length - noMessageHeld(begun, true));
      expect(messageSaid(begun + rest).startsWith(through)).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});

test("A6: text is held back only while some ending would take it away", () => {
  const part = fc.constantFrom("N", "O", "_", "NO_", "MESSAGE", "REPLY", "NO_REPLY", "RE", " ", "\n", "x");
  const endings = ["NO_MESSAGE", "NO_REPLY"].flatMap((word) =>
    ["", "\n"].flatMap((space) => Array.from(word, (_, at) => space + word.slice(at))),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const begun = parts.join("");
      const held = noMessageHeld(begun, true);
      const shortest = Math.min(begun.length, ...["", ...endings].map((ending) => messageSaid(begun + ending).length));
      expect(begun.length - held).toBe(shortest);
    }),
    { numRuns: 5_000 },
  );
});
