import fc from "fast-check";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { numberOf } from "../cells.ts";
import { codes } from "../codes.ts";
import { hashCell, hashOf, idCell, idOf, textCell, textOf } from "./cells.ts";

const UUID = "01890a5d-ac96-774b-bcce-b302099a8057";
const HASH = "LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ";
const corrupt = expect.objectContaining({ code: "store-corrupt" });

describe("cells", () => {
  test("ids, hashes and texts of any form come back exactly, and equal ones are found", () => {
    const db = new DatabaseSync(":memory:");
    const echo = db.prepare("select ? as cell");
    const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
    const text = fc.oneof(
      fc.string({ unit }),
      fc.uuid(),
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString("base64url")),
    );
    fc.assert(
      fc.property(text, (value) => {
        expect(textOf(echo.get(textCell(value)), "cell")).toBe(value);
        expect(idOf(echo.get(idCell(value)), "cell")).toBe(value);
        expect(hashOf(echo.get(hashCell(value)), "cell")).toBe(value);
        expect(db.prepare("select ? = ? as same").get(idCell(value), idCell(value))).toEqual({ same: 1 });
      }),
      {
        examples: [
          [HASH],
          [HASH.slice(1)],
          [`${HASH.slice(0, 42)}B`],
          [UUID.toUpperCase()],
          ["\ud800".repeat(8)],
          ["\ud800".repeat(16)],
        ],
      },
    );
    db.close();
  });

  test("a UUID takes 16 bytes and a hash 32", () => {
    expect(idCell(UUID)).toHaveLength(16);
    expect(hashCell(HASH)).toHaveLength(32);
  });

  test("a cell of another kind than promised is corrupt", () => {
    expect(() => numberOf({ cell: "1" }, "cell")).toThrow(corrupt);
    expect(() => numberOf(undefined, "cell")).toThrow(corrupt);
    expect(() => textOf({ cell: 1 }, "cell")).toThrow(corrupt);
    expect(() => textOf({ cell: new Uint8Array(16) }, "cell")).toThrow(corrupt);
    expect(() => idOf({ cell: null }, "cell")).toThrow(corrupt);
    expect(() => codes({ a: 0 }).of({ cell: 1 }, "cell")).toThrow(corrupt);
  });
});
