import { expect, test } from "vitest";
import { salvageText } from "./salvage.ts";

test.each([
  ["  answer \n", "answer"],
  ["<thinking>a</thinking>answer", "answer"],
  ["<THINKING>a</Thinking> one <tool_call id='x'>{}</tool_call> two <thinking>b</thinking>", "one  two"],
  ["<thinking>a <tool_call>b</thinking> answer", "answer"],
  ["<tool_call>a <thinking>b</tool_call> answer", "answer"],
  ["<thinking>a</thinking><tool_call>b</tool_call>", ""],
  ["<think>a</think> <tool_calls>b</tool_calls>", "<think>a</think> <tool_calls>b</tool_calls>"],
  ["", ""],
])("B6: %j is salvaged as %j", (text, expected) => {
  expect(salvageText(text)).toBe(expected);
});

test.each([
  "answer <thinking>a thought that was cut off",
  "<thinking>the answer is 42",
  "<tool_call>{</thinking> the answer",
  "<thinking>one <thinking>two",
])("B6: a tag that is never closed removes nothing of %j", (text) => {
  expect(salvageText(text)).toBe(text);
});

test("B6: a closed pair is removed although another tag is not closed", () => {
  expect(salvageText("<tool_call>{ <thinking>a</thinking> answer")).toBe("<tool_call>{  answer");
});

test.each([
  "<thinking>",
  "<thinking>a</thinking>",
  "<tool_call>a</tool_call>",
  "</thinking>",
  "<thinking ",
  '<thinking a="',
  "<",
])("B6, E3: a megabyte of %j is salvaged in linear time", (unit) => {
  const text = unit.repeat((1 << 20) / unit.length);
  const started = performance.now();
  salvageText(text);
  expect(performance.now() - started).toBeLessThan(5_000);
});
