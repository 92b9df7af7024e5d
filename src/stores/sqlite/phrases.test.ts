import fc from "fast-check";
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { goldenHeads } from "../../core/golden-heads.test-support.ts";
import { jsonCell, jsonOf } from "./cells.ts";
import { lengthened, shortened } from "./phrases.ts";

test("the heads of all golden journals come back exactly, and take less than half of the room", () => {
  const heads = goldenHeads();
  expect(heads.length).toBeGreaterThan(40);
  const stored = heads.map((head) => shortened(head) ?? "");
  expect(stored.map(lengthened)).toEqual(heads);
  expect(stored.join("").length).toBeLessThan(heads.join("").length / 2);
});

test("what was stored without phrases reads as itself", () => {
  for (const head of goldenHeads()) expect(lengthened(head)).toBe(head);
});

test("any text comes back from a cell exactly, whatever pieces of heads and codes stand in it", () => {
  const db = new DatabaseSync(":memory:");
  const echo = db.prepare("select ? as cell");
  const pieces = goldenHeads().flatMap((head) => head.split(/(?<=[:,])/));
  const piece = fc.oneof(
    fc.constantFrom(...pieces),
    fc.constantFrom("\u0001", "\u001f", "\u001f ", "\ud800", "\0", "é"),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece), (some) => {
      const text = some.join("");
      expect(jsonOf(echo.get(jsonCell(text)), "cell")).toBe(text);
    }),
  );
  db.close();
});

test("what the codes stand for is pinned, because they are stored", () => {
  const short = Array.from({ length: 30 }, (_, index) => String.fromCharCode(index + 1));
  const long = Array.from({ length: 91 }, (_, index) => `\u001f${String.fromCharCode(0x20 + index)}`);
  const meant = [...short, ...long].map(lengthened);
  expect(meant.filter((text) => text.length < 5)).toEqual([]);
  expect(createHash("sha256").update(meant.join("\n")).digest("hex").slice(0, 16)).toBe("3b9e4b6516264a91");
});
