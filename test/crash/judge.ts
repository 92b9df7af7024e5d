/**
 * The judge: reads a store in which everything has come to rest, and holds it against what the world outside saw.
 *
 * Every row goes through the simulation's checkers (the invariants of runs, messages, calls and the chain), every tree
 * is replayed, and each thing that was acknowledged must be there once. What is wrong is `lost`, `duplicated` or
 * `contradicted`.
 */

import type { Store } from "../../src/index.ts";
import { asPostId, asTreeId } from "../../src/core/values/ids.ts";
import { replyPartsOf, replyText } from "../../src/core/values/message.ts";
import { bodyRead, headRead } from "../../src/core/journal/row.ts";
import { openStoreAt, sha256 } from "../../src/runtime/create-runtime.ts";
import { replayJournal } from "../../src/runtime/journals/replay-tree.ts";
import { storedRows } from "../../src/runtime/journals/stored-rows.ts";
import { checkAgentsAtRest, checkRunAtRest, checkStoreAtRest } from "../simulation/invariants/at-rest.ts";
import { checkRow } from "../simulation/invariants/row.ts";
import { type WatchedTree, watchedTree } from "../simulation/invariants/watched-tree.ts";
import type { Evidence } from "./evidence.ts";
import { expectedMessages, expectedTokens } from "./reference.ts";

export interface Finding {
  readonly kind: "lost" | "duplicated" | "contradicted";
  readonly what: string;
}

/** A tree as its journal tells it. */
interface ReadTree {
  readonly watched: WatchedTree;
  /** Messages for the user, by their id. */
  readonly sent: ReadonlyMap<string, string>;
}

type Find = (kind: Finding["kind"], what: string) => void;

/** Slots of the program's processes. */
const SLOTS = 64;

/** Judges a store at rest whose trees are all reference conversations. */
export async function judgeStore(path: string, evidence: Evidence): Promise<readonly Finding[]> {
  const store = await openStoreAt(path, "read");
  try {
    return await judge(store, evidence);
  } finally {
    await store.close();
  }
}

async function judge(store: Store, evidence: Evidence): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const find: Find = (kind, what) => void findings.push({ kind, what });
  const trees = (await store.trees({ limit: 1_000_000 })).toReversed();
  const sent = new Map<string, string>();
  for (const [index, record] of trees.entries()) {
    const tree = await readTree(store, record.id, record.agent, find);
    if (tree === null) continue;
    for (const [id, text] of tree.sent) sent.set(id, text);
    checkConversation(`conversation-${index + 1}`, tree, find);
  }
  for (const [id, number] of evidence.opened) {
    if (trees[number - 1]?.id !== id) find("lost", `the tree ${id} was acknowledged as conversation ${number}`);
  }
  await checkPosts(store, evidence, find);
  checkChannel(evidence, sent, find);
  checkTool(
    evidence,
    trees.map((_, index) => `conversation-${index + 1}`),
    find,
  );
  return findings;
}

/** Takes the journal through every checker. Null when it does not hold. */
async function readTree(store: Store, id: string, agent: string, find: Find): Promise<ReadTree | null> {
  const tree = asTreeId(id);
  const watched = watchedTree(id, agent);
  const sent = new Map<string, string>();
  try {
    for await (const row of storedRows(store, tree)) {
      const head = headRead(row.head);
      checkRow(watched, row, head, head.at, SLOTS);
      for (const fact of head.rejected === undefined ? (head.events ?? []) : []) {
        if (fact.type !== "channel-sent") continue;
        sent.set(`${id}/${row.seq}.${fact.n}`, replyText(replyPartsOf(bodyRead(row.body).texts[0])));
      }
    }
    for (const run of watched.runs.values()) checkRunAtRest(run);
    checkAgentsAtRest(watched);
    await checkStoreAtRest(store, watched);
    for (const { key } of await store.pendingOutbox(tree)) find("lost", `the message ${id}/${key} waits for a channel`);
  } catch (error) {
    find("contradicted", `tree ${id}: ${String(error)}`);
    return null;
  }
  const report = await replayJournal({ rows: storedRows(store, tree), blob: (hash) => store.blob(tree, hash) }, sha256);
  if (report.difference !== null) find("contradicted", `tree ${id} is not proven: ${JSON.stringify(report)}`);
  return { watched, sent };
}

/**
 * The reference conversation, whole: three runs that ended well, each message for the user once, each post answered
 * once.
 */
function checkConversation(name: string, { watched, sent }: ReadTree, find: Find): void {
  const said = [...sent.values()];
  for (const text of expectedMessages(name)) {
    const times = said.filter((other) => other === text).length;
    if (times === 0) find("lost", `"${text}" was never said`);
    if (times > 1) find("duplicated", `"${text}" was said ${times} times`);
  }
  if (said.length > 3) find("contradicted", `${name} said ${JSON.stringify(said)}`);
  const runs = [...watched.runs.values()];
  const shape = runs.map((run) => `${run.mode} ${run.status} ${run.told.join()}`);
  const expected = ["background ok announcement", "background ok announcement", "awaited ok answer"];
  if (JSON.stringify(shape) !== JSON.stringify(expected)) find("contradicted", `runs of ${name}: ${shape.join("; ")}`);
  for (const post of [`${name}-go`, `${name}-more`]) {
    const times = watched.posts.get(post)?.ended ?? 0;
    if (times !== 1) find(times === 0 ? "lost" : "duplicated", `the post ${post} was answered ${times} times`);
  }
}

async function checkPosts(store: Store, evidence: Evidence, find: Find): Promise<void> {
  for (const { id, tree } of evidence.posted) {
    const known = await store.post(asTreeId(tree), asPostId(id));
    if (known === null) find("lost", `the post ${id} was acknowledged and is not in the store`);
  }
  const answers = new Map<string, string>();
  for (const { id, tree, text } of evidence.replied) {
    const before = answers.get(id);
    if (before !== undefined && before !== text) find("contradicted", `the post ${id}: "${before}", then "${text}"`);
    answers.set(id, text);
    const known = await store.post(asTreeId(tree), asPostId(id));
    const [row] = known === null || known.endedSeq === null ? [] : await store.rows(asTreeId(tree), known.endedSeq, 1);
    const kept = row === undefined ? null : replyText(replyPartsOf(bodyRead(row.body).texts[0]));
    if (kept === null) find("lost", `the post ${id} was answered by "${text}", which is not in the store`);
    else if (kept !== text) find("contradicted", `the post ${id} was answered by "${text}"; the store has "${kept}"`);
  }
}

/** Channels: at least once, under the same id with the same text; a repetition says so. */
function checkChannel({ delivered }: Evidence, sent: ReadonlyMap<string, string>, find: Find): void {
  const seen = new Set<string>();
  for (const { id, text, repeated } of delivered) {
    const decided = sent.get(id);
    if (decided === undefined) find("lost", `the user saw ${id}, which is not in the store`);
    else if (decided !== text) find("contradicted", `the user saw ${id} as "${text}"; the store has "${decided}"`);
    if (seen.has(id) && !repeated) find("duplicated", `the user saw ${id} again, and it was not marked as repeated`);
    seen.add(id);
  }
  for (const id of sent.keys()) if (!seen.has(id)) find("lost", `the user never saw ${id}`);
}

/** Unsafe tools: at most once for each call. */
function checkTool({ struck }: Evidence, names: readonly string[], find: Find): void {
  const calls = new Set(names.flatMap(expectedTokens));
  const seen = new Set<string>();
  for (const token of struck) {
    if (!calls.has(token)) find("contradicted", `the tool ran for ${token}, which nobody asked for`);
    if (seen.has(token)) find("duplicated", `the unsafe call ${token} was executed again`);
    seen.add(token);
  }
}
