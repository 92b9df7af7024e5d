/** Answers in the mail that no process has taken yet. The first answer decides a question. */

import type { Store } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import { mailContent, type PostInput } from "../../runtime/messages/mail.ts";

interface Post {
  readonly input: PostInput;
  readonly texts: readonly Json[];
}

/** True if a different answer to the same question came before this one. */
export async function differentAnswerPending(store: Store, given: Post & { readonly tree: TreeId }): Promise<boolean> {
  for (const mail of await store.pendingMail(Number.MAX_SAFE_INTEGER)) {
    if (mail.id === given.input.id) return false;
    const post = mail.tree === given.tree ? mailContent(mail) : null;
    if (post !== null && questionOf(post) === questionOf(given)) return answerText(post) !== answerText(given);
  }
  return false;
}

function questionOf({ input }: Post): string | null {
  return input.type === "answer-given" ? input.question : null;
}

/** The answer without the ids of its post. */
function answerText({ input, texts }: Post): string {
  return input.type === "answer-given" ? JSON.stringify([input.allow, input.always ?? false, texts]) : "";
}
