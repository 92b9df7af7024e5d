import { describe, expect, test } from "vitest";
import { ErrandError } from "../../errors.ts";
import { storeErrorOf } from "./sqlite-errors.ts";

const sqliteError = (errcode: number): Error => Object.assign(new Error("from SQLite"), { errcode });

describe("SQLite's errors", () => {
  test.each([
    [13, "store-full"],
    [5, "store-busy"],
    [261, "store-busy"],
    [10, "store-failed"],
    [1034, "store-failed"],
    [4874, "store-full"],
    [11, "store-corrupt"],
    [779, "store-corrupt"],
    [26, "store-corrupt"],
    [8, "store-failed"],
  ])("result code %i is %s", (errcode, code) => {
    const cause = sqliteError(errcode);
    expect(storeErrorOf(cause, "The store")).toMatchObject({ code, cause, remedy: expect.any(String) });
  });

  test("an error that is not from SQLite is passed on", () => {
    const refusal = new ErrandError("commit-conflict", "refused");
    const odd = Object.assign(new Error("odd"), { errcode: "text" });
    for (const thrown of [refusal, odd, "text"]) expect(storeErrorOf(thrown, "The store")).toBe(thrown);
  });
});
