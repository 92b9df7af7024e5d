/**
 * Invariants of a system at rest: I2, I4, I10, I14 for every run, I16 for every agent, and the store's own lists.
 */

import type { Store } from "../../../src/index.ts";
import { asTreeId } from "../../../src/core/values/ids.ts";
import { sha256 } from "./chain.ts";
import { demand } from "./violation.ts";
import type { WatchedRun, WatchedTree } from "./watched-tree.ts";

export function checkRunAtRest(run: WatchedRun): void {
  demand("I10", run.state === "ended", () => `run ${run.number} is ${run.state} at rest: nobody owns it`);
  demand("I4", run.told.length === 1, () => `run ${run.number} was told ${run.told.length} times`);
}

export function checkAgentsAtRest(tree: WatchedTree): void {
  demand("I10", tree.questions.size === 0, () => `${tree.questions.size} questions are open at rest`);
  for (const agent of tree.agents.values()) {
    if (!agent.alive) continue;
    demand("I10", agent.number === 0, () => `agent ${agent.number} is alive at rest`);
    demand("I16", agent.turn === null, () => `agent ${agent.number} is in a turn at rest`);
    demand(
      "I16",
      agent.inbox.length === 0,
      () => `${agent.inbox.length} messages wait for agent ${agent.number} at rest`,
    );
  }
}

/** I6, I21: the lists of the store agree with the journal, and the journal is the committed one. */
export async function checkStoreAtRest(store: Store, tree: WatchedTree): Promise<void> {
  const id = asTreeId(tree.id);
  const record = await store.tree(id);
  const last = tree.rows.at(-1);
  demand(
    "I21",
    record?.hash === last?.hash && record?.nextSeq === tree.rows.length + 1,
    () => `tree ${id} ends elsewhere`,
  );
  demand(
    "I10",
    record !== null && !record.busy && record.wakeAt === null && record.questions === 0,
    () => `tree ${id} is not at rest in the store`,
  );
  const runs = await store.runs({ tree: id, limit: 1_000 });
  demand(
    "I1",
    runs.length === tree.runs.size,
    () => `the store lists ${runs.length} runs, the journal ${tree.runs.size}`,
  );
  for (const stored of runs) {
    const run = tree.runs.get(stored.number);
    const same = stored.state === run?.state && stored.status === run.status && stored.reason === run.reason;
    demand(
      "I2",
      same && stored.id === run.id,
      () => `run ${stored.number} is ${stored.status} in the store, ${run?.status} in the journal`,
    );
    const [road = ""] = run.told;
    const delivery = road === "undeliverable" || road === "returned" ? road : "placed";
    demand(
      "I6",
      stored.delivery === delivery,
      () => `run ${stored.number} is ${stored.delivery} in the store, not ${delivery}`,
    );
  }
  const mail = (await store.pendingMail(100)).filter((one) => one.tree === id);
  demand("I12", mail.length === 0, () => `mail for tree ${id} was left untaken`);
}

/**
 * I20, I21: the store has, byte for byte, the rows that were committed and proven, except erased texts: for those it
 * has the result of the erasure.
 */
export async function checkStoredJournal(store: Store, tree: WatchedTree): Promise<void> {
  const rows = await store.rows(asTreeId(tree.id), 1, tree.rows.length + 1);
  demand("I21", rows.length === tree.rows.length, () => `the store holds ${rows.length} of ${tree.rows.length} rows`);
  for (const [index, { seq, head, body, hash }] of rows.entries()) {
    const committed = tree.rows[index];
    const same = committed?.seq === seq && committed.head === head && committed.hash === hash;
    demand("I21", same, () => `row ${seq} of the store is not the one that was committed`);
    const left = tree.erased.get(seq);
    const whole = left === undefined ? body === committed.body : left === (body === null ? null : sha256(body));
    demand(
      "I21",
      whole,
      () => `the body of row ${seq} in the store is neither what was committed nor what was left of it`,
    );
  }
}

/**
 * I8, I22: a run does not exceed its time limit in true time, whatever the wall clock did. `excuse` is the last moment
 * at which the process was down or its disk full: timers that became due before it may fire then.
 */
export function checkDeadline(run: WatchedRun, excuse: number): void {
  if (run.endedNow === null) return;
  const since = run.startedNow ?? (run.mode === "awaited" ? run.createdNow : null);
  if (since === null) return;
  // A run whose deadline passed while no process ran may wait for a person. It ends after the answer.
  const due = Math.max(since + run.timeoutMs, excuse) + run.parkedMs;
  demand(
    "I22",
    run.endedNow <= due + SLACK_MS,
    () => `run ${run.number} was due at ${due} and ended at ${run.endedNow}`,
  );
  if (run.reason !== "deadline") return;
  const lasted = run.endedNow - since - run.parkedMs;
  demand(
    "I22",
    lasted >= run.timeoutMs - SLACK_MS,
    () => `run ${run.number} was ended after ${lasted} of ${run.timeoutMs} ms`,
  );
}

const SLACK_MS = 1_000;
