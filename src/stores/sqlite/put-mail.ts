/**
 * Putting mail: the one write that any process may do.
 *
 * Invariants:
 *  1. (tree, id) is put once. A repetition is recognised by its hash, also after the mail was taken; another hash is a
 *     reuse of the id.
 *  2. Nothing is put into a store that was moved: no process would take it.
 */

import type { Mail, MailPut } from "../../contracts/store-messages.ts";
import { hashCell, hashOf, idCell, textCell } from "./cells.ts";
import type { Prepare, Transaction } from "./connection.ts";

export function preparePutMail(
  prepare: Prepare,
  transaction: Transaction,
  requireNotMoved: () => void,
): (mail: Mail) => MailPut {
  const known = prepare("select hash from posts where tree = ? and id = ?");
  const put = prepare("insert into posts (tree, id, hash, payload) values (?, ?, ?, ?)");
  return (mail) =>
    transaction(() => {
      requireNotMoved();
      const tree = idCell(mail.tree);
      const id = idCell(mail.id);
      const earlier = known().get(tree, id);
      if (earlier !== undefined) return { status: hashOf(earlier, "hash") === mail.hash ? "known" : "id-reused" };
      put().run(tree, id, hashCell(mail.hash), textCell(mail.payload));
      return { status: "put" };
    });
}
