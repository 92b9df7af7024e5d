/**
 * Putting mail: the one write that any process may do. It locks no tree's row, so it neither waits for a commit nor
 * delays one.
 *
 * Invariants:
 *  1. (tree, id) is put once. A repetition is recognised by its hash, also after the mail was taken; another hash is a
 *     reuse of the id.
 *  2. Mail that is put while other mail of this process is being sent waits, and is then sent together.
 */

import type { Mail, MailPut } from "../../contracts/store-messages.ts";
import { textCell, textOf } from "./cells.ts";
import type { Database } from "./database.ts";
import { arraysOf, type ColumnTypes, insertOf } from "./table-write.ts";
import type { Waking } from "./waking.ts";

const MAIL: ColumnTypes = { tree: "text", id: "text", hash: "text", payload: "text" };
const PUT = insertOf("put-mail", "errand.posts", MAIL, "on conflict (tree, id) do nothing returning tree, id");
const KNOWN = { name: "errand-known-mail", text: "select hash from errand.posts where tree = $1 and id = $2" };
const MOST_TOGETHER = 500;

interface Waiting {
  readonly mail: Mail;
  readonly resolve: (put: MailPut) => void;
  readonly reject: (error: unknown) => void;
}

export function createPutMail({ ask }: Database, { wakeMailed }: Waking): (mail: Mail) => Promise<MailPut> {
  let waiting: Waiting[] = [];
  let going = false;

  async function go(): Promise<void> {
    going = true;
    // Wait for the other mail of this tick.
    await Promise.resolve();
    while (waiting.length > 0) {
      const together = waiting.slice(0, MOST_TOGETHER);
      waiting = waiting.slice(MOST_TOGETHER);
      try {
        await put(together);
      } catch (error) {
        for (const { reject } of together) reject(error);
      }
    }
    going = false;
  }

  async function put(together: readonly Waiting[]): Promise<void> {
    // Sorted, so that two processes that put the same mail do not deadlock.
    const rows = together
      .map(({ mail }) => [textCell(mail.tree), textCell(mail.id), textCell(mail.hash), textCell(mail.payload)])
      .toSorted(([tree = "", id = ""], [otherTree = "", otherId = ""]) =>
        tree === otherTree ? compare(id, otherId) : compare(tree, otherTree),
      );
    const done = await ask(PUT, arraysOf(MAIL, rows));
    const unclaimed = new Set(done.map((row) => keyOf(textOf(row, "tree"), textOf(row, "id"))));
    const fresh: Waiting[] = [];
    const repeated: Waiting[] = [];
    for (const one of together) (unclaimed.delete(keyOf(one.mail.tree, one.mail.id)) ? fresh : repeated).push(one);
    const trees = new Set(fresh.map(({ mail }) => mail.tree));
    if (trees.size > 0) await wakeMailed([...trees]);
    for (const { resolve } of fresh) resolve({ status: "put" });
    for (const { mail, resolve } of repeated) resolve(await earlier(mail));
  }

  async function earlier(mail: Mail): Promise<MailPut> {
    const [row] = await ask(KNOWN, [textCell(mail.tree), textCell(mail.id)]);
    // It expired in between, with its tree.
    if (row === undefined) return { status: "known" };
    return { status: textOf(row, "hash") === mail.hash ? "known" : "id-reused" };
  }

  return (mail) =>
    new Promise((resolve, reject) => {
      waiting.push({ mail, resolve, reject });
      if (!going) void go();
    });
}

function keyOf(tree: string, id: string): string {
  return JSON.stringify([tree, id]);
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
