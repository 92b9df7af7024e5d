import { expect, test } from "vitest";
import { durationLabel } from "./duration.ts";

test.each([
  [0, "0s"],
  [499, "0s"],
  [500, "1s"],
  [45_000, "45s"],
  [59_499, "59s"],
  [59_600, "1m"],
  [60_000, "1m"],
  [120_000, "2m"],
  [125_000, "2m5s"],
  [3_599_499, "59m59s"],
  [3_599_500, "1h"],
  [3 * 3_600_000, "3h"],
  [3 * 3_600_000 + 59_000, "3h"],
  [3 * 3_600_000 + 20 * 60_000 + 59_000, "3h20m"],
  [100 * 3_600_000, "100h"],
  [-5, "0s"],
  [Number.NaN, "0s"],
  [Number.POSITIVE_INFINITY, "0s"],
])("D6: %d ms reads as %s", (ms, expected) => {
  expect(durationLabel(ms)).toBe(expected);
});
