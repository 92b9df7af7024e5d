// An assistant message without its thinking and its written-out tool calls (B6).
//
// Invariants
// 1. A block runs from its open tag to the next close tag of the same name, with everything between them.
// 2. A tag that is never closed removes nothing. A model that forgot the close tag must not lose its answer.

import { nextCloseTag, openTagFinder } from "./tag-scan.ts";

const HIDDEN = ["thinking", "tool_call"] as const;

/** A model's text without its thinking and its written-out tool calls. */
export function salvageText(text: string): string {
  const nextOpen = openTagFinder(text, HIDDEN);
  /** Names without a further close tag. Each is searched once, so that many open tags stay cheap. */
  const unclosed = new Set<string>();
  const parts: string[] = [];
  let from = 0;
  let searchFrom = 0;
  for (;;) {
    const open = nextOpen(searchFrom);
    if (open === null) break;
    const close = unclosed.has(open.name) ? null : nextCloseTag(text, open.name, open.end);
    if (close === null) {
      unclosed.add(open.name);
      searchFrom = open.end;
      continue;
    }
    parts.push(text.slice(from, open.start));
    from = close.end;
    searchFrom = close.end;
  }
  parts.push(text.slice(from));
  return parts.join("").trim();
}
