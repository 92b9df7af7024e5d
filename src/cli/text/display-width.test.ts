import { expect, test } from "vitest";
import { displayWidth, fitWidth, padWidth } from "./display-width.ts";

test.each([
  ["", 0],
  ["plain", 5],
  ["naïve", 5],
  ["nai\u0308ve", 5],
  ["日本語", 6],
  ["한국어", 6],
  ["ｆｕｌｌ", 8],
  ["👍", 2],
  ["👩‍👩‍👧", 2],
  ["❤️", 2],
  ["🇩🇪", 2],
  ["├─ ✓ ⠋ …", 8],
  ["a\u200bb", 2],
])("%j takes %i columns", (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test("text that fits stays; other text is cut with an ellipsis, never inside a character", () => {
  expect(fitWidth("fits", 4)).toBe("fits");
  expect(fitWidth("does not fit", 6)).toBe("does…");
  expect(fitWidth("日本語", 5)).toBe("日本…");
  expect(fitWidth("日本語", 4)).toBe("日…");
  expect(fitWidth("👩‍👩‍👧👩‍👩‍👧", 3)).toBe("👩‍👩‍👧…");
  expect(fitWidth("x", 0)).toBe("");
});

test("padding gives exactly the width, for every text and width", () => {
  for (const text of ["", "plain text", "日本語テキスト", "a👍b👍c"]) {
    for (let width = 0; width < 20; width += 1) expect(displayWidth(padWidth(text, width))).toBe(width);
  }
});
