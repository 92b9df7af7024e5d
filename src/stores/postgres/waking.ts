/**
 * Waking trees that no process runs, with jobs of graphile-worker. Jobs only wake workers: if one is lost, the sweep
 * finds its tree later.
 *
 * Invariants:
 *  1. Each tree has two job keys, `wake:TREE` for now and `timer:TREE` for later, and neither is written with the
 *     other's time. With one key for both, a timer would delay a wake-up, or a wake-up would delete the timer.
 *  2. The format of a tree's journal is in the name of the task, so that a process gets only trees that it can read.
 *  3. A process that puts mail looks for a living owner once the mail is durable. A process that releases a tree looks
 *     for mail once the release is durable. So one of the two sees the other's write.
 */

import type { OwnedTree } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import { textCell } from "./cells.ts";
import { type Ask, settled, type Statement, type Values } from "./database.ts";
import { OWNER_LIVES, workerLives } from "./membership.ts";
import { arraysOf, type ColumnTypes, given } from "./table-write.ts";

const ADD_TRIES = 3;

/** Names of the tasks, without the format. */
export const WAKE = "errand:wake:";
export const TIMER = "errand:timer:";

/**
 * A select that adds a job for every tree `t` of `trees`. Usually there is none; then no function of graphile-worker
 * runs. The jobs are sorted, so that two processes that add the same ones rarely deadlock.
 */
function addJobs(task: string, key: string, trees: string, runAt = "null"): string {
  return `select count(*)::int as added from (
    select array_agg(json_populate_record(null::graphile_worker.job_spec, json_build_object(
      'identifier', '${task}' || t.format, 'payload', json_build_object('tree', t.id),
      'job_key', '${key}:' || t.id, 'run_at', ${runAt}, 'max_attempts', 1)) order by t.id) as specs ${trees}
  ) wanted cross join lateral graphile_worker.add_jobs(wanted.specs) where wanted.specs is not null`;
}

const HAS_MAIL = "exists (select 1 from errand.posts p where p.tree = t.id and p.seq is null)";
const NOW_MS = "extract(epoch from clock_timestamp()) * 1000";

const HAS_DISPATCHER: Statement = {
  name: "errand-has-dispatcher",
  text: "select to_regprocedure('graphile_worker.force_unlock_workers(text[])') is not null as there",
};
const WAKE_MAILED: Statement = {
  name: "errand-wake-mailed",
  text: addJobs(
    WAKE,
    "wake",
    `from errand.trees t where id = any ($1::text[]) and status = 0 and (owner is null or not ${OWNER_LIVES})`,
  ),
};
const RELEASE_TYPES: ColumnTypes = { id: "text", epoch: "bigint" };
const RELEASE: Statement = {
  name: "errand-release-ownership",
  text: `update errand.trees t set owner = null from ${given(RELEASE_TYPES)}
         where t.id = given.id and t.epoch = given.epoch`,
};
const WAKE_FREE: Statement = {
  name: "errand-wake-free",
  text: addJobs(
    WAKE,
    "wake",
    `from errand.trees t
     where id = any ($1::text[]) and status = 0 and owner is null and (busy or wake_at <= ${NOW_MS} or ${HAS_MAIL})`,
  ),
};
const TIME_FREE: Statement = {
  name: "errand-time-free",
  text: addJobs(
    TIMER,
    "timer",
    `from errand.trees t where id = any ($1::text[]) and status = 0 and owner is null and wake_at > ${NOW_MS}`,
    "to_timestamp(t.wake_at / 1000.0)",
  ),
};
/** Trees with something to do and no living owner. $1: declare no worker dead. */
const SWEEP: Statement = {
  name: "errand-sweep",
  text: `with living as materialized (select id from errand.workers t where ${workerLives("t.id")}),
         waiting as (
           select key from errand.trees where status = 0 and busy
           union select key from errand.trees where status = 0 and wake_at is not null and wake_at <= ${NOW_MS}
           union select t.key from errand.posts p join errand.trees t on t.id = p.tree
                 where p.seq is null and t.status = 0
         )
         ${addJobs(
           WAKE,
           "wake",
           `from errand.trees t join waiting using (key)
            where t.owner is null or not ($1::boolean or t.owner in (select id from living))`,
         )}`,
};

export interface Waking {
  /** Wakes the trees that no process runs. Mail for them must be durable. */
  wakeMailed(trees: readonly TreeId[]): Promise<void>;
  releaseOwnership(trees: readonly OwnedTree[]): Promise<void>;
  /** Wakes the trees that no process runs, now or when their time comes. */
  wakeFree(trees: readonly string[]): Promise<void>;
  /** Wakes every tree that has something to do and no living owner. */
  sweep(steady: boolean): Promise<void>;
}

export function createWaking(ask: Ask): Waking {
  let found = false;

  /** Before the first dispatcher there is no table of jobs. The first dispatcher begins with a sweep. */
  async function hasDispatcher(): Promise<boolean> {
    found ||= (await ask(HAS_DISPATCHER, []))[0]?.["there"] === true;
    return found;
  }

  /** Two processes that add the same jobs may deadlock. The refused one tries again, then leaves it to the sweep. */
  async function add(statement: Statement, values: Values): Promise<void> {
    for (let left = ADD_TRIES; left > 0; left -= 1) {
      try {
        await ask(statement, values);
        return;
      } catch (error) {
        if (!(error instanceof ErrandError) || error.code !== "commit-conflict") throw error;
      }
    }
  }

  async function wakeFree(cells: readonly string[]): Promise<void> {
    if (cells.length === 0 || !(await hasDispatcher())) return;
    await settled([add(WAKE_FREE, [cells]), add(TIME_FREE, [cells])]);
  }

  return {
    async wakeMailed(trees) {
      if (await hasDispatcher()) await add(WAKE_MAILED, [trees.map(textCell)]);
    },
    async releaseOwnership(trees) {
      const rows = trees.map(({ tree, epoch }) => [textCell(tree), epoch]);
      await ask(RELEASE, arraysOf(RELEASE_TYPES, rows));
      await wakeFree(trees.map(({ tree }) => textCell(tree)));
    },
    wakeFree,
    async sweep(steady) {
      await add(SWEEP, [!steady]);
    },
  };
}
