/**
 * What a person must know of a store before it may run: its trees, what would go on at once, what it asks, and which
 * messages and answers wait in its mail.
 */

import type { Store } from "../../../contracts/store.ts";
import { type Json, jsonObjectIs } from "../../../core/values/json.ts";
import { sha256 } from "../../../runtime/create-runtime.ts";
import { openQuestions } from "../../../runtime/messages/open-questions.ts";
import { everyTree } from "../../../runtime/trees/every-tree.ts";
import { treeWord } from "../../store/state-words.ts";
import { countLabel } from "../../../view/amounts.ts";
import { terminalLine } from "../../text/terminal-text.ts";

export interface StoreContents {
  readonly trees: number;
  /** Trees that would go on at once. */
  readonly unfinished: readonly { readonly tree: string; readonly agent: string; readonly state: string }[];
  readonly questions: readonly { readonly tree: string; readonly tool: string; readonly text: string }[];
  /** What the next owner would take. */
  readonly mail: readonly { readonly tree: string; readonly what: string }[];
}

/** Of each kind so many lines. */
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
    mail: mail.map(({ tree, payload }) => ({ tree, what: mailWords(payload) })),
  };
}

function mailWords(payload: string): string {
  let read: Json;
  try {
    read = JSON.parse(payload) as Json;
  } catch {
    return "something that cannot be read";
  }
  const input = jsonObjectIs(read) && jsonObjectIs(read["input"]) ? read["input"] : {};
  const { type, allow, question } = input;
  if (type === "answer-given")
    return `the answer ${allow === true ? "yes" : "no"} to question ${JSON.stringify(question ?? null)}`;
  if (type === "message-posted") return "a message";
  return type === "cancel-asked" ? "a cancellation" : "a request of another kind";
}

export function contentLines(path: string, { trees, unfinished, questions, mail }: StoreContents): string[] {
  return [
    `store ${path}: ${countLabel(trees, "tree")}`,
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
  ].map((line) => `${line.startsWith("  ") ? "  " : ""}${terminalLine(line)}`);
}

function section(title: string, items: readonly string[]): string[] {
  const more = items.length > SHOWN ? [`  and ${items.length - SHOWN} more`] : [];
  return [
    `${title}: ${items.length === 0 ? "nothing" : items.length}`,
    ...items.slice(0, SHOWN).map((item) => `  ${item}`),
    ...more,
  ];
}
