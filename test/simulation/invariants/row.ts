/**
 * Invariants of every committed row: adds it to the watched tree fact by fact, then checks the resulting state. Each
 * check cites the number of its rule.
 */

import type { Fact } from "../../../src/core/event.ts";
import type { JournalRow } from "../../../src/core/journal/journal.ts";
import { bodyRead, type RowHead } from "../../../src/core/journal/row.ts";
import { checkChain } from "./chain.ts";
import { takeMessageFact } from "./message-facts.ts";
import { takeOutsideFact } from "./outside-child-facts.ts";
import { takeQuestionFact } from "./question-facts.ts";
import { takeRightsFact } from "./rights-facts.ts";
import { takeRunFact } from "./run-facts.ts";
import { demand } from "./violation.ts";
import { takeWorkFact } from "./work-facts.ts";
import type { Moment, WatchedRun, WatchedTree } from "./watched-tree.ts";

/** `head` is the row's parsed head. */
export function checkRow(
  tree: WatchedTree,
  row: JournalRow,
  head: RowHead,
  now: number,
  slotsFree: number,
): readonly Fact[] {
  checkChain(tree.rows.at(-1), row, head);
  tree.rows.push(row);
  const { input, events = [], rejected: late } = head;
  if ("id" in input && typeof input.id === "string") {
    demand("I1", !tree.posts.has(input.id), () => `post ${input.id} is taken again by row ${row.seq}`);
    tree.posts.set(input.id, { seq: row.seq, late: late !== undefined, ended: 0 });
  }
  if (late !== undefined) {
    demand("I2", events.length === 0, () => `row ${row.seq} is late and yet decides something`);
    return [];
  }
  const facts: readonly Fact[] = [input, ...events];
  const moment: Moment = { seq: row.seq, now, facts, texts: bodyRead(row.body).texts };
  for (const fact of facts) {
    takeOutsideFact(tree, fact, moment);
    takeQuestionFact(tree, fact, moment);
    takeRightsFact(tree, fact, moment);
    takeRunFact(tree, fact, moment);
    takeMessageFact(tree, fact, moment);
    takeWorkFact(tree, fact, moment);
    takePosts(tree, fact, moment);
  }
  checkEnds(tree, facts, row.seq);
  checkSlots(tree, facts, row.seq, slotsFree);
  checkWaking(tree, row.seq);
  return facts;
}

function takePosts(tree: WatchedTree, fact: Fact, { seq }: Moment): void {
  for (const id of "posts" in fact ? (fact.posts ?? []) : []) {
    const post = tree.posts.get(id);
    demand("I12", post !== undefined && !post.late, () => `row ${seq} ends the post ${id}, which was never taken`);
    post.ended += 1;
    demand("I12", post.ended === 1, () => `the post ${id} ends a second time in row ${seq}`);
  }
}

/**
 * I17: runs start in free slots, or in slots that this row releases. A run that continues after waiting always takes a
 * slot, so runs that start in the same row need others.
 */
function checkSlots(tree: WatchedTree, facts: readonly Fact[], seq: number, slotsFree: number): void {
  if (!facts.some((fact) => fact.type === "run-started")) return;
  const resumed = facts.filter((fact) => fact.type === "run-state-changed" && fact.state === "running").length;
  const running = [...tree.runs.values()].filter((run) => run.state === "running").length;
  const held = running - resumed;
  demand("I17", held <= slotsFree, () => `row ${seq} starts a run, and ${held} hold ${slotsFree} slots`);
}

/** I3: the end of a run and its entry for the parent are in one row. */
function checkEnds(tree: WatchedTree, facts: readonly Fact[], seq: number): void {
  for (const fact of facts) {
    if (fact.type !== "run-ended") continue;
    const run = tree.runs.get(fact.run);
    if (run === undefined) continue;
    const onItsWay = run.told.length === 1 || run.queued === 1 || waitsInBatch(tree, run);
    demand("I3", onItsWay, () => `run ${run.number} ends in row ${seq} and is on no way to its parent`);
    for (const other of tree.runs.values()) {
      const below = other.parent === run.number && other.state !== "ended";
      demand("I19", !below, () => `run ${run.number} ends in row ${seq}, run ${other.number} below it goes on`);
    }
  }
}

/** True while members of the run's batch are open, or the batch's turn continues. */
function waitsInBatch(tree: WatchedTree, run: WatchedRun): boolean {
  if (run.batch === null) return false;
  const parent = tree.agents.get(run.parent);
  if (parent === undefined || !parent.alive) return false;
  for (const other of tree.runs.values()) {
    if (other.parent !== run.parent || other.batch !== run.batch) continue;
    if (other.state !== "ended" || (parent.turn !== null && other.turn === parent.turn.number)) return true;
  }
  return false;
}

/**
 * I16, no lost wake-up: no agent is idle while its inbox has messages, and every complete batch is announced.
 */
function checkWaking(tree: WatchedTree, seq: number): void {
  for (const agent of tree.agents.values()) {
    if (!agent.alive || agent.turn !== null || tree.runs.get(agent.number)?.state === "queued") continue;
    demand(
      "I16",
      agent.pending.size === 0,
      () => `agent ${agent.number} is idle after row ${seq}, an announcement waits`,
    );
    const waits = agent.inbox.find((message) => !message.silent || agent.number === 0);
    demand("I16", waits === undefined, () => `agent ${agent.number} is idle after row ${seq}, ${waits?.key} waits`);
  }
  for (const run of tree.runs.values()) {
    const lost = run.state === "ended" && run.told.length === 0 && run.queued === 0 && !waitsInBatch(tree, run);
    demand("I14", !lost, () => `run ${run.number} has ended, and after row ${seq} nothing will tell its parent`);
  }
}
