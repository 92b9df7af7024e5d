/** Mail as the owner takes it (posts.ts): how a process that owns nothing puts a request into the store. */

import type { Mail } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import type { Json } from "../../core/values/json.ts";
import type { PostInput } from "./posts.ts";

export function mailOf(tree: TreeId, input: PostInput, texts: readonly Json[], sha256: Sha256): Mail {
  const hash = sha256(JSON.stringify([input, texts]));
  return { tree, id: input.id, hash, payload: JSON.stringify({ input, texts }) };
}
