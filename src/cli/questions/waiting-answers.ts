/** Answers in the mail that no process has taken yet: the first one to a question decides it, so that a later and different one must be told. */

import type { Store } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import type { PostInput } from "../../runtime/messages/mail.ts";

interface Post {
  readonly input: PostInput;
  readonly texts: readonly Json[];
}

/** Much more mail than ever waits. */
const MAIL_MOST = 100_000;

/** True if another answer to the same question came before, and says something else. */
export async function otherAnswerWaits(store: Store, given: Post & { readonly tree: TreeId }): Promise<boolean> {
  for (const { tree, id, payload } of await store.pendingMail(MAIL_MOST)) {
    if (id === given.input.id) return false;
    if (tree !== given.tree) continue;
    const post = JSON.parse(payload) as Post;
    if (questionOf(post) === questionOf(given)) return saidBy(post) !== saidBy(given);
  }
  return false;
}

function questionOf({ input }: Post): string | null {
  return input.type === "answer-given" ? input.question : null;
}

/** What the answer says, without the ids of the post. */
function saidBy({ input, texts }: Post): string {
  return input.type === "answer-given" ? JSON.stringify([input.allow, input.always ?? false, texts]) : "";
}
