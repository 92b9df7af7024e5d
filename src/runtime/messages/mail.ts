/** Mail as the owner takes it (posts.ts): how a process that owns nothing puts a request into the store. */

import type { Mail } from "../../contracts/store-messages.ts";
import type { Input } from "../../core/event.ts";
import type { PostId, TreeId } from "../../core/values/ids.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import type { Json } from "../../core/values/json.ts";

/** What can be asked of a tree from outside it. */
export type PostInput = Extract<Input, { readonly id: PostId }>;

export function mailOf(tree: TreeId, input: PostInput, texts: readonly Json[], sha256: Sha256): Mail {
  const hash = sha256(JSON.stringify([input, texts]));
  return { tree, id: input.id, hash, payload: JSON.stringify({ input, texts }) };
}

const TYPES: ReadonlySet<PostInput["type"]> = new Set([
  "message-posted",
  "run-asked",
  "answer-given",
  "cancel-asked",
  "close-asked",
]);

/** What the sender put; null if it is not the mail of this version. */
export function mailContent({
  id,
  payload,
}: Mail): { readonly input: PostInput; readonly texts: readonly Json[] } | null {
  try {
    const content = JSON.parse(payload) as { readonly input: PostInput; readonly texts: readonly Json[] };
    const { input, texts } = content;
    return TYPES.has(input.type) && input.id === id && Array.isArray(texts) ? content : null;
  } catch {
    return null;
  }
}
