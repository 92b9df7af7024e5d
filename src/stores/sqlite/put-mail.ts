/**
 * Putting mail: the one write that any process may do.
 *
 * Invariants:
 *  1. (tree, id) is put once. A repetition is known by its hash, also after the mail was taken; another hash is a reuse.
 *  2. Nothing is put into a store that was moved: nobody would take it.
 */

import type { Mail, MailPut } from "../../contracts/store.ts";
import { hashCell, hashOf, idCell, textCell } from "./cells.ts";
import type { Prepare } from "./connection.ts";
import type { Transaction } from "./connection.ts";

export function preparePutMail(
  prepare: Prepare,
  transaction: Transaction,
  requireHere: () => void,
): (mail: Mail) => MailPut {
  const known = prepare("select hash from posts where tree = ? and id = ?");
  const put = prepare("insert into posts (tree, id, hash, payload) values (?, ?, ?, ?)");
  return (mail) =>
    transaction(() => {
      requireHere();
      const tree = idCell(mail.tree);
      const id = idCell(mail.id);
      const earlier = known().get(tree, id);
      if (earlier !== undefined) return { status: hashOf(earlier, "hash") === mail.hash ? "known" : "id-reused" };
      put().run(tree, id, hashCell(mail.hash), textCell(mail.payload));
      return { status: "put" };
    });
}
