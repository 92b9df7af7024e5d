/**
 * Questions that wait for a user's answer, from the store alone: any process can list them while another one owns the
 * trees.
 */

import type { Store, TreeRecord } from "../../contracts/store.ts";
import { asStepKey, asTreeId, type StepKey, type TreeId, uuidIs } from "../../core/values/ids.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import type { Json } from "../../core/values/json.ts";
import { questionInput, questionText } from "../../core/text/prompts/question-text.ts";
import { treeSource } from "../../core/tree.ts";
import { createDefinitionLibrary } from "../definitions/definition-library.ts";
import { everyTree } from "../trees/every-tree.ts";
import { readTree } from "../trees/read-tree.ts";

/** A call that waits for a user's answer. */
export interface OpenQuestion {
  /** What an answer names. The message that a channel delivers for it has the same id. */
  readonly id: string;
  readonly tree: string;
  /** The agent whose call waits. */
  readonly agent: string;
  /** Its run; null for a root. */
  readonly run: string | null;
  /** The name of its run; null for a root. */
  readonly who: string | null;
  /**
   * The tool; `model_calls` where it is asked whether the request may use more model calls; `child_question` for what
   * an outside child asks, which is answered with words.
   */
  readonly tool: string;
  /** The call's arguments, as the model wrote them; of a child's question `{ text, choices? }`. */
  readonly input: Json;
  /** The question in words. */
  readonly text: string;
  readonly askedAt: number;
}

/** The open questions of a tree, or of all: newest tree first, and in the order they were asked. */
export async function openQuestions(store: Store, sha256: Sha256, tree?: TreeId): Promise<readonly OpenQuestion[]> {
  if (tree !== undefined) {
    const record = await store.tree(tree);
    return record === null || record.questions === 0 ? [] : questionsOf(store, sha256, record);
  }
  const questions: OpenQuestion[] = [];
  for (const record of await everyTree(store, { asking: true }))
    questions.push(...(await questionsOf(store, sha256, record)));
  return questions;
}

async function questionsOf(store: Store, sha256: Sha256, record: TreeRecord): Promise<readonly OpenQuestion[]> {
  const library = createDefinitionLibrary(new Map());
  const { tree } = await readTree(store, record, treeSource(sha256, library.text), library);
  const { state, contexts } = tree;
  const calls = state.settings?.limits.modelCallsPerRequest ?? 0;
  return [...state.questions].map(([key, question]) => ({
    id: `${record.id}/${key}`,
    tree: record.id,
    agent: state.agents.get(question.agent)?.id ?? "",
    run: state.runs.get(question.agent)?.id ?? null,
    who: contexts.runs.get(question.agent)?.name ?? null,
    tool: question.name,
    input: questionInput(contexts, question, calls),
    text: questionText(contexts, question, calls),
    askedAt: question.askedAt,
  }));
}

/** The tree and the key that a question's id names, or null. */
export function questionNamed(id: string): { readonly tree: TreeId; readonly key: StepKey } | null {
  const [tree = "", key = "", ...more] = id.split("/");
  if (!uuidIs(tree) || !/^\d+\.\d+$/.test(key) || more.length > 0) return null;
  return { tree: asTreeId(tree), key: asStepKey(key) };
}
