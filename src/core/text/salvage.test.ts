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

test("B6: an unclosed block hides everything to the end", () => {
  expect(salvageText("answer <thinking>a thought that was cut off")).toBe("answer");
  expect(salvageText("<tool_call>{</thinking> not an answer")).toBe("");
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
