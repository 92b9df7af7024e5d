/** The contents that a user should see before a store may run: its trees, their open questions, and its mail. */

import type { Store } from "../../../contracts/store.ts";
import type { Mail } from "../../../contracts/store-messages.ts";
import { sha256 } from "../../../runtime/create-runtime.ts";
import { mailContent } from "../../../runtime/messages/mail.ts";
import { openQuestions } from "../../../runtime/messages/open-questions.ts";
import { everyTree } from "../../../runtime/trees/every-tree.ts";
import { treeWord } from "../../store/state-words.ts";
import { countLabel } from "../../../view/amounts.ts";
import { terminalLine } from "../../text/terminal-text.ts";

export interface StoreContents {
  readonly trees: number;
  /** Trees that would run at once. */
  readonly unfinished: readonly { readonly tree: string; readonly agent: string; readonly state: string }[];
  readonly questions: readonly { readonly tree: string; readonly tool: string; readonly text: string }[];
  /** Messages and answers that the next owner would take. */
  readonly mail: readonly { readonly tree: string; readonly what: string }[];
}

/** Lines of each kind. */
const SHOWN = 20;

export async function storeContents(store: Store): Promise<StoreContents> {
  const trees = await everyTree(store);
  const busy = new Set<string>(await store.unfinished(Number.MAX_SAFE_INTEGER));
  const mail = await store.pendingMail(Number.MAX_SAFE_INTEGER);
  const unfinished = trees.filter(({ id }) => busy.has(id));
  return {
    trees: trees.length,
    unfinished: unfinished.map((tree) => ({ tree: tree.id, agent: tree.agent, state: treeWord(tree) })),
    questions: (await openQuestions(store, sha256)).map(({ tree, tool, text }) => ({ tree, tool, text })),
    mail: mail.map((one) => ({ tree: one.tree, what: mailWords(one) })),
  };
}

function mailWords(mail: Mail): string {
  const input = mailContent(mail)?.input;
  switch (input?.type) {
    case "answer-given":
      return `the answer ${input.allow ? "yes" : "no"} to question ${JSON.stringify(input.question)}`;
    case "message-posted":
      return "a message";
    case "cancel-asked":
      return "a cancellation";
    case undefined:
      return "something that cannot be read";
    default:
      return "a request of another kind";
  }
}

export function contentLines(path: string, { trees, unfinished, questions, mail }: StoreContents): string[] {
  return [
    terminalLine(`store ${path}: ${countLabel(trees, "tree")}`),
    ...section(
      "goes on at once",
      unfinished.map(({ tree, agent, state }) => `${tree} ${agent} (${state})`),
    ),
    ...section(
      "asks for permission",
      questions.map(({ tree, text }) => `${tree} ${text}`),
    ),
    ...section(
      "in its mail",
      mail.map(({ tree, what }) => `${tree} ${what}`),
    ),
  ];
}

function section(title: string, items: readonly string[]): string[] {
  const more = items.length > SHOWN ? [`  and ${items.length - SHOWN} more`] : [];
  const shown = items.slice(0, SHOWN).map((item) => `  ${terminalLine(item)}`);
  return [`${title}: ${items.length === 0 ? "nothing" : items.length}`, ...shown, ...more];
}
