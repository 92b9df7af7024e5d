// Takes blocks `<tag>…</tag>` out of model text (E3): which open tag belongs to which close tag.
//
// Invariants
// 1. tagExtract and tagStrip agree on the block: first open tag to last close tag, nested tags included.
// 2. Content is the model's own, only trimmed. `null` means "no block", `""` means "an empty one".
// 3. Text without a block is returned by tagStrip as it came.

import { lastCloseTag, nextCloseTag, openTagFinder } from "./tag-scan.ts";

interface Block {
  readonly start: number;
  readonly contentStart: number;
  readonly contentEnd: number;
  readonly end: number;
}

function outerBlock(text: string, tag: string): Block | null {
  // The close tag is searched first: most texts have none and need no second scan.
  const close = lastCloseTag(text, tag);
  if (close === null) return null;
  const open = openTagFinder(text, [tag])(0);
  if (open === null || close.start < open.end) return null;
  return { start: open.start, contentStart: open.end, contentEnd: close.start, end: close.end };
}

/** The trimmed content from the first open tag to the last close tag; `null` without such a block. */
export function tagExtract(text: string, tag: string): string | null {
  const block = outerBlock(text, tag);
  return block === null ? null : text.slice(block.contentStart, block.contentEnd).trim();
}

/** The text without the block that tagExtract reads; unchanged if there is none. */
export function tagStrip(text: string, tag: string): string {
  const block = outerBlock(text, tag);
  return block === null ? text : text.slice(0, block.start) + text.slice(block.end);
}

/** The trimmed content of every block, each from an open tag to the next close tag, none overlapping. */
export function tagExtractAll(text: string, tag: string): string[] {
  const contents: string[] = [];
  const nextOpen = openTagFinder(text, [tag]);
  let from = 0;
  for (;;) {
    const open = nextOpen(from);
    if (open === null) return contents;
    const close = nextCloseTag(text, tag, open.end);
    if (close === null) return contents;
    contents.push(text.slice(open.end, close.start).trim());
    from = close.end;
  }
}
