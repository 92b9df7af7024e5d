/** Bounding a text: what is kept, and the numbers that say what was cut. */

import type { Sha256 } from "../journal.ts";
import { cutToBytes, utf8Length } from "../text/index.ts";

export interface Excerpt {
  readonly text: string;
  readonly truncated: { readonly original_bytes: number; readonly kept_bytes: number; readonly sha256: string } | null;
}

export function excerpt(text: string, maxBytes: number, sha256: Sha256): Excerpt {
  const bytes = text.length * 3 <= maxBytes ? 0 : utf8Length(text);
  if (bytes <= maxBytes) return { text, truncated: null };
  const kept = cutToBytes(text, maxBytes);
  return { text: kept, truncated: { original_bytes: bytes, kept_bytes: utf8Length(kept), sha256: sha256(text) } };
}
