/** The frame against a terminal's screen: what it shows, and that it writes only changes. */

import { describe, expect, test } from "vitest";
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

test("each drawing is one write that is shown at once", () => {
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

test("the cursor is hidden and wrapping is off while it is drawn, and every end restores both", () => {
  for (const end of [(frame: Frame) => frame.close(["last"]), (frame: Frame) => frame.abandon()]) {
    const { frame, seen } = drawing();
    frame.draw(["tree"]);
    expect(seen()).toMatchObject({ cursorVisible: false, wraps: false });
    end(frame);
    expect(seen()).toMatchObject({ cursorVisible: true, wraps: true });
  }
});

test("a frame that drew nothing restores nothing", () => {
  const { frame, writes } = drawing();
  frame.abandon();
  expect(writes).toEqual([]);
});

test("after the terminal became narrower all rows of the wrapped lines are overwritten", () => {
  const { frame, writes } = drawing();
  frame.draw(["x".repeat(40), "y"]);
  frame.resized(20);
  frame.draw(["x".repeat(19), "y"]);
  expect(writes[1]).toContain("\u001b[3A\r\u001b[J");
});

describe("with a cursor", () => {
  const at = (row: number, column: number): { row: number; column: number } => ({ row, column });

  test("it is shown where it was set, moves without writing lines, and is restored after text above", () => {
    const { frame, writes, seen } = drawing();
    frame.draw(["tree", "> ab"], at(1, 3));
    expect(seen()).toMatchObject({ cursor: at(1, 3), cursorVisible: true, lines: ["tree", "> ab", ""] });
    frame.draw(["tree", "> ab"], at(1, 2));
    expect(seen()).toMatchObject({ cursor: at(1, 2), cursorVisible: true });
    expect(screenOf(writes[1] ?? "").linesWritten).toBe(0);
    frame.draw(["tree", "> ab"], at(1, 2));
    expect(writes).toHaveLength(2);
    frame.above("said\nmore");
    expect(seen()).toMatchObject({ cursor: at(3, 2), lines: ["said", "more", "tree", "> ab", ""] });
    frame.draw(["TREE", "> ab"], at(1, 2));
    expect(seen()).toMatchObject({ cursor: at(3, 2), lines: ["said", "more", "TREE", "> ab", ""] });
  });

  test("text above and changed lines below are one write", () => {
    const { frame, writes, seen } = drawing();
    frame.draw(["tree", "> ab"], at(1, 4));
    frame.draw(["> abc"], at(0, 5), "said");
    expect(seen()).toMatchObject({ cursor: at(1, 5), lines: ["said", "> abc", ""] });
    expect(writes).toHaveLength(2);
  });

  test("a frame grows and shrinks under it", () => {
    const { frame, seen } = drawing();
    frame.draw(["> a"], at(0, 3));
    frame.draw(["tree", "totals", "> a"], at(2, 3));
    expect(seen()).toMatchObject({ cursor: at(2, 3), lines: ["tree", "totals", "> a", ""] });
    frame.draw(["> a", "  b"], at(1, 3));
    expect(seen()).toMatchObject({ cursor: at(1, 3), lines: ["> a", "  b", ""] });
  });

  test("the cursor is below the frame after every kind of end", () => {
    for (const end of [(frame: Frame) => frame.close(["> a", "  b"]), (frame: Frame) => frame.abandon()]) {
      const { frame, seen } = drawing();
      frame.draw(["> a", "  b"], at(0, 1));
      end(frame);
      expect(seen()).toMatchObject({ cursor: at(2, 0), cursorVisible: true, wraps: true, lines: ["> a", "  b", ""] });
    }
  });

  test("after the terminal became narrower, the rows above the cursor are counted with the new width", () => {
    const { frame, writes } = drawing();
    frame.draw(["x".repeat(40), `> ${"y".repeat(30)}`, "z"], at(1, 25));
    frame.resized(20);
    frame.draw(["x".repeat(19), "> y"], at(1, 3));
    // Two rows of the first line, and one of the second above the cursor's.
    expect(writes[1]).toContain("\u001b[3A\r\u001b[J");
  });
});

test("an escape sequence in an unfiltered line moves nothing", () => {
  const { frame, writes, seen } = drawing();
  frame.draw(["one\u001b[7A\u001b[J", "two\r\u001b[?25h"], undefined, "above\u001b[5B");
  frame.above("said\u001b[2J\u001b]0;title\u0007");
  frame.close(["last\u001b[3A"]);
  expect(seen().lines).toEqual(["above", "said", "last", ""]);
  // oxlint-disable-next-line no-control-regex
  expect(writes.join("")).not.toMatch(/\u001b\[(7A|5B|2J|3A)|\u001b\]|\u0007/);
});
