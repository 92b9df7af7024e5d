/**
 * Putting mail: the one write that any process may do. It locks no tree's row, so that it never waits for a commit nor delays one.
 *
 * Invariant: (tree, id) is put once. A repetition is known by its hash, also after the mail was taken; another hash is a reuse.
 */

import type { Mail, MailPut } from "../../contracts/store.ts";
import { textCell, textOf } from "./cells.ts";
import type { Database } from "./database.ts";
import type { Waking } from "./waking.ts";

const PUT = {
  name: "errand-put-mail",
  text: `insert into errand.posts (tree, id, hash, payload) values ($1, $2, $3, $4)
         on conflict (tree, id) do nothing returning id`,
};
const KNOWN = { name: "errand-known-mail", text: "select hash from errand.posts where tree = $1 and id = $2" };

export function createPutMail({ ask }: Database, { wakeMailed }: Waking): (mail: Mail) => Promise<MailPut> {
  return async (mail) => {
    const key = [textCell(mail.tree), textCell(mail.id)];
    const put = await ask(PUT, [...key, textCell(mail.hash), textCell(mail.payload)]);
    if (put.length > 0) {
      await wakeMailed(mail.tree);
      return { status: "put" };
    }
    const [earlier] = await ask(KNOWN, key);
    // It expired in between, with its tree: nobody will take it any more.
    if (earlier === undefined) return { status: "known" };
    return { status: textOf(earlier, "hash") === mail.hash ? "known" : "id-reused" };
  };
}
