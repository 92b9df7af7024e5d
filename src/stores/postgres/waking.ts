/**
 * Waking trees that nobody runs: jobs of graphile-worker, which are hints and never the truth. A lost one delays, and the sweep finds its tree.
 *
 * Invariants:
 *  1. Two keys for each tree, `wake:TREE` for now and `timer:TREE` for later, never written with each other's time: one key for both would
 *     move a wake-up of now into the future, or lose the later one.
 *  2. The format of a tree's journal is in the name of the task, so that a process is told only of trees that it can read.
 *  3. Whoever puts mail looks for a living owner after the mail is durable; whoever lets a tree go looks for mail after that is. One of the
 *     two sees the other's write.
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
 * A select that adds a job for every tree `t` of `trees`. Where there is none, which is the usual answer, nothing of graphile-worker is run. The rows
 * are named in order, so that two that add the same jobs rarely stand in each other's way.
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

const THERE: Statement = {
  name: "errand-dispatcher-there",
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
const LET_GO_TYPES: ColumnTypes = { id: "text", epoch: "bigint" };
const LET_GO: Statement = {
  name: "errand-let-go",
  text: `update errand.trees t set owner = null from ${given(LET_GO_TYPES)}
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
/** Trees with something to do, which nobody runs who is known to live. $1: nobody is declared dead. */
const SWEEP: Statement = {
  name: "errand-sweep",
  text: `with living as materialized (select id from errand.workers t where ${workerLives("t.id")}),
         waiting as (
           select key from errand.trees where status = 0 and busy
           union select key from errand.trees where status = 0 and wake_at is not null and wake_at <= ${NOW_MS}
           union select t.key from errand.posts p join errand.trees t on t.id = p.tree where p.seq is null and t.status = 0
         )
         ${addJobs(
           WAKE,
           "wake",
           `from errand.trees t join waiting using (key)
            where t.owner is null or not ($1::boolean or t.owner in (select id from living))`,
         )}`,
};

export interface Waking {
  /** Wakes those of the trees that nobody runs. Mail for them must be durable. */
  wakeMailed(trees: readonly TreeId[]): Promise<void>;
  releaseOwnership(trees: readonly OwnedTree[]): Promise<void>;
  /** Wakes those of the trees that nobody runs, now or when their time comes. */
  wakeFree(trees: readonly string[]): Promise<void>;
  /** Wakes every tree that has something to do and no living owner. */
  sweep(steady: boolean): Promise<void>;
}

export function createWaking(ask: Ask): Waking {
  let there = false;

  /** Before the first dispatcher came there is nothing to add jobs to; the first thing that one does is to sweep. */
  async function dispatcherThere(): Promise<boolean> {
    there ||= (await ask(THERE, []))[0]?.["there"] === true;
    return there;
  }

  /** Two that add the same jobs at once may block each other. Whoever was refused for it tries again, and leaves the rest to the sweep. */
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
    if (cells.length === 0 || !(await dispatcherThere())) return;
    await settled([add(WAKE_FREE, [cells]), add(TIME_FREE, [cells])]);
  }

  return {
    async wakeMailed(trees) {
      if (await dispatcherThere()) await add(WAKE_MAILED, [trees.map(textCell)]);
    },
    async releaseOwnership(trees) {
      const rows = trees.map(({ tree, epoch }) => [textCell(tree), epoch]);
      await ask(LET_GO, arraysOf(LET_GO_TYPES, rows));
      await wakeFree(trees.map(({ tree }) => textCell(tree)));
    },
    wakeFree,
    async sweep(steady) {
      await add(SWEEP, [!steady]);
    },
  };
}
