// What is left of an assistant message when its thinking and its written-out tool calls are taken away (B6).
//
// Invariants
// 1. A block runs from its open tag to the next close tag of the same name; whatever stands between goes with it.
// 2. An unclosed block runs to the end: a thought that was cut off must not pass for an answer.

import { nextCloseTag, openTagFinder } from "./tag-scan.ts";

const HIDDEN = ["thinking", "tool_call"] as const;

export function salvageText(text: string): string {
  const nextOpen = openTagFinder(text, HIDDEN);
  const kept: string[] = [];
  let from = 0;
  for (;;) {
    const open = nextOpen(from);
    kept.push(text.slice(from, open === null ? text.length : open.start));
    const close = open === null ? null : nextCloseTag(text, open.name, open.end);
    if (close === null) return kept.join("").trim();
    from = close.end;
  }
}
