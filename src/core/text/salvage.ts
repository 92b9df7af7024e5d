// What is left of an assistant message when its thinking and its written-out tool calls are taken away (B6).
//
// Invariants
// 1. A block runs from its open tag to the next close tag of the same name; whatever stands between goes with it.
// 2. A tag that is never closed removes nothing: a model that forgot the close tag must not lose its answer.

import { nextCloseTag, openTagFinder } from "./tag-scan.ts";

const HIDDEN = ["thinking", "tool_call"] as const;

export function salvageText(text: string): string {
  const nextOpen = openTagFinder(text, HIDDEN);
  /** Names whose close tag does not occur any more: looked for once, so that many open tags stay cheap. */
  const unclosed = new Set<string>();
  const kept: string[] = [];
  let from = 0;
  let look = 0;
  for (;;) {
    const open = nextOpen(look);
    if (open === null) break;
    const close = unclosed.has(open.name) ? null : nextCloseTag(text, open.name, open.end);
    if (close === null) {
      unclosed.add(open.name);
      look = open.end;
      continue;
    }
    kept.push(text.slice(from, open.start));
    from = close.end;
    look = close.end;
  }
  kept.push(text.slice(from));
  return kept.join("").trim();
}
