// The text a foreground reply addresses to the user (A7). Owns only the choice of tag and that an empty block is no message.

import { tagExtractAll } from "./tag.ts";

/** One message a block, in order; `[]` means that nothing is sent. */
export function sayBlocks(text: string): string[] {
  return tagExtractAll(text, "say").filter((block) => block !== "");
}
