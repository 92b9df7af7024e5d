import { expect, test } from "vitest";
import { sayBlocks } from "./say.ts";

test("A7: every block is one message, and text outside is none", () => {
  expect(sayBlocks("thinking <say>Hello.</say> more <SAY>\nBye.\n</SAY>")).toEqual(["Hello.", "Bye."]);
});

test("A7: a reply without a block sends nothing", () => {
  expect(sayBlocks("Hello.")).toEqual([]);
  expect(sayBlocks("<say>Hello.")).toEqual([]);
});

test("A7: an empty block is no message", () => {
  expect(sayBlocks("<say> </say><say>a</say><say></say>")).toEqual(["a"]);
});
