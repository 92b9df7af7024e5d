import fc from "fast-check";
import { expect, test } from "vitest";
import { displayWidth } from "../../text/display-width.ts";
import type { WrappedText } from "../../text/wrap.ts";
import { layoutInput } from "./input-layout.ts";

const view = { width: 10, height: 5, mark: "> " };

/** The rows with a bar where the cursor is. */
function shown({ rows, cursor }: WrappedText): string[] {
  return rows.map((row, index) => {
    if (index !== cursor.row) return row;
    let column = 0;
    let at = 0;
    for (; at < row.length && column < cursor.column; at += 1) column += displayWidth(row[at] ?? "");
    return `${row.slice(0, at)}|${row.slice(at)}`;
  });
}

test.each<[string, string, number, string[]]>([
  ["nothing", "", 0, ["> |"]],
  ["a short text", "abc", 1, ["> a|bc"]],
  ["its end", "abc", 3, ["> abc|"]],
  ["a text that is wrapped", "abcdefghij", 10, ["> abcdefgh", "  ij|"]],
  ["a row that is full", "abcdefgh", 8, ["> abcdefgh", "  |"]],
  ["a place in the second row", "abcdefghij", 8, ["> abcdefgh", "  |ij"]],
  ["lines", "ab\n\ncd", 3, ["> ab", "  |", "  cd"]],
  ["the end of a line", "ab\ncd", 2, ["> ab|", "  cd"]],
  ["wide characters", "日本語日本語", 4, ["> 日本語日", "  |本語"]],
  ["a tab", "a\tb", 2, ["> a  |b"]],
])("%s", (_what, text, cursor, expected) => {
  expect(shown(layoutInput(text, cursor, view))).toEqual(expected);
});

test("of more rows than there is room for, those around the cursor are shown", () => {
  const text = Array.from({ length: 12 }, (_, index) => `line${index}`).join("\n");
  const at = (cursor: number): string[] => shown(layoutInput(text, cursor, { ...view, height: 3 }));
  expect(at(0)).toEqual(["> |line0", "  line1", "  line2"]);
  expect(at(text.indexOf("line6"))).toEqual(["  line4", "  line5", "  |line6"]);
  expect(at(text.length)).toEqual(["  line9", "  line10", "  line11|"]);
});

test("no row is wider than the window, and the cursor is in it, whatever the text", () => {
  const letters = fc.constantFrom("a", "日", "\n", "\t", " ", "👍", "e\u0301", "\u200b");
  fc.assert(
    fc.property(fc.string({ unit: letters }), fc.nat(40), fc.integer({ min: 5, max: 12 }), (text, place, width) => {
      const { rows, cursor } = layoutInput(text, Math.min(place, text.length), { ...view, width });
      for (const row of rows) expect(displayWidth(row)).toBeLessThanOrEqual(width);
      expect(rows[cursor.row]).toBeDefined();
      expect(cursor.column).toBeLessThanOrEqual(width);
      expect(rows.length).toBeLessThanOrEqual(view.height);
    }),
  );
});
