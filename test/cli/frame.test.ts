/** The frame against a terminal's screen: what is seen, and how little is written for it. */

import { expect, test } from "vitest";
import { createFrame, type Frame } from "../../src/cli/display/frame.ts";
import { screenOf, type ScreenState } from "./support/screen.ts";

function drawing(): { readonly frame: Frame; readonly writes: string[]; seen(): ScreenState } {
  const writes: string[] = [];
  return { frame: createFrame((text) => writes.push(text)), writes, seen: () => screenOf(writes.join("")) };
}

test("only lines that changed are written", () => {
  const { frame, writes, seen } = drawing();
  frame.draw(["one", "two", "three"]);
  frame.draw(["one", "2", "three"]);
  expect(seen().lines).toEqual(["one", "2", "three", ""]);
  expect(screenOf(writes[1] ?? "").linesWritten).toBe(1);
  frame.draw(["one", "2", "three"]);
  expect(writes).toHaveLength(2);
});

test("each drawing is one write, shown at once", () => {
  const { frame, writes } = drawing();
  frame.draw(["one"]);
  frame.draw(["two", "three"]);
  frame.above("said");
  expect(writes).toHaveLength(3);
  for (const write of writes) {
    expect(write.startsWith("\u001b[?2026h")).toBe(true);
    expect(write.endsWith("\u001b[?2026l")).toBe(true);
  }
});

test("a frame grows and shrinks, and lines that get shorter leave nothing behind", () => {
  const { frame, seen } = drawing();
  frame.draw(["a long line", "b"]);
  frame.draw(["short", "b", "c", "d"]);
  expect(seen().lines).toEqual(["short", "b", "c", "d", ""]);
  frame.draw(["x"]);
  expect(seen().lines).toEqual(["x", ""]);
});

test("text above the frame stays, wraps, and pushes the frame down", () => {
  const { frame, writes, seen } = drawing();
  frame.draw(["tree", "totals"]);
  frame.above("first\nsecond");
  frame.draw(["TREE", "totals"]);
  expect(seen().lines).toEqual(["first", "second", "TREE", "totals", ""]);
  expect(writes[1]).toContain("\u001b[?7hfirst");
});

test("the cursor is hidden and lines do not wrap while it is drawn, and both come back however it ends", () => {
  for (const end of [(frame: Frame) => frame.close(["last"]), (frame: Frame) => frame.abandon()]) {
    const { frame, seen } = drawing();
    frame.draw(["tree"]);
    expect(seen()).toMatchObject({ cursorVisible: false, wraps: false });
    end(frame);
    expect(seen()).toMatchObject({ cursorVisible: true, wraps: true });
  }
});

test("a frame that drew nothing gives back nothing", () => {
  const { frame, writes } = drawing();
  frame.abandon();
  expect(writes).toEqual([]);
});

test("after the terminal became narrower the rows that its lines take now are drawn over", () => {
  const { frame, writes } = drawing();
  frame.draw(["x".repeat(40), "y"]);
  frame.resized(20);
  frame.draw(["x".repeat(19), "y"]);
  expect(writes[1]).toContain("\u001b[3A\r\u001b[J");
});
