import fc from "fast-check";
import { expect, test } from "vitest";
import { records, textCell, textOf } from "./cells.ts";

const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

test("a text of any form has a cell that PostgreSQL takes, comes back exactly, and is found by an equal one", () => {
  fc.assert(
    fc.property(fc.string({ unit }), fc.string({ unit }), (text, other) => {
      const cell = textCell(text);
      expect(cell.isWellFormed() && !cell.includes("\0")).toBe(true);
      expect(textOf({ cell }, "cell")).toBe(text);
      expect(textCell(other) === cell).toBe(other === text);
    }),
    {
      examples: [
        ["\0", "\u0001"],
        ['\u0001"\\u0000"', "\0"],
        ["\ud800", "\ufffd"],
      ],
    },
  );
});

test("ordinary text stands as it is", () => {
  expect(textCell('{"é":"😀\\n"}')).toBe('{"é":"😀\\n"}');
});

test.each([{ cell: 1 }, { cell: null }, { cell: "\u0001no json" }, { cell: "\u0001[]" }, undefined])(
  "a cell that is no text is told (%j)",
  (row) => {
    expect(() => textOf(row, "cell")).toThrow(expect.objectContaining({ code: "store-corrupt" }));
  },
);

test("a flag that is no boolean is told", () => {
  expect(() =>
    records.treeOf({
      id: "i",
      agent: "a",
      kind: 0,
      status: 0,
      epoch: 1,
      next_seq: 1,
      hash: "",
      wake_at: null,
      busy: 1,
    }),
  ).toThrow(expect.objectContaining({ code: "store-corrupt" }));
});
