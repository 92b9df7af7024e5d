// The text of a foreground reply that is meant for the user (A7).

import { tagExtractAll } from "./tag.ts";

/** One message a block, in order; `[]` means that nothing is sent. */
export function sayBlocks(text: string): string[] {
  return tagExtractAll(text, "say").filter((block) => block !== "");
}
