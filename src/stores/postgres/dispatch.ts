/**
 * Dispatch: how a worker learns of trees that have something to do and no living owner.
 *
 * Invariants:
 *  1. A job lasts as long as claiming a tree. It never fails: the sweep finds what it could not do.
 *  2. A sweep runs every `SWEEP_MS`, and at once when a worker is found dead, even if the sweep before failed. The jobs
 *     that a dead worker had locked are unlocked.
 *  3. A dispatcher that stops by itself is started again.
 *
 * Jobs have no queue, and a worker fetches them one by one, because the worker that fetches a wake-up runs the tree. If
 * a worker fetched many jobs at once, it would get all of their trees.
 */

import { EventEmitter } from "node:events";
import type { Runner, TaskList, WorkerEvents } from "graphile-worker";
import type { Pool } from "pg";
import type { World } from "../../contracts/world.ts";
import { asTreeId, type TreeId } from "../../core/values/ids.ts";
import { JOURNAL_FORMAT } from "../../core/journal/revision.ts";
import { passesByItself } from "../../errors.ts";
import { createDuty } from "../../periodic-duty.ts";
import { textOf } from "./cells.ts";
import type { Ask } from "./database.ts";
import { LEASE_MS, type Membership, workerLives } from "./membership.ts";
import { loadGraphileWorker } from "./packages.ts";
import { TIMER, WAKE, type Waking } from "./waking.ts";

const SWEEP_MS = 5_000;
const CHECK_MS = 1_000;
const RESTART_MS = 1_000;
const PRESET: GraphileConfig.Preset = {
  worker: {
    // Fixed, because the statements of waking.ts name it.
    schema: "graphile_worker",
    concurrentJobs: 8,
    /** How often it looks for jobs without a notification. */
    pollInterval: 2_000,
    // Batches: graphile-worker does not wait for a job that it completes alone, and a failure there ends the process.
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
};

const DEAD = {
  name: "errand-dead",
  text: `select pool from errand.workers t where not ${workerLives("t.id")}`,
};
/** Deletes workers whose lease expired. A worker without a row is dead. */
const DELETE_DEAD = {
  name: "errand-delete-dead-workers",
  text: `delete from errand.workers t where not ${workerLives("t.id")}
         and t.seen_at < clock_timestamp() - interval '${LEASE_MS} milliseconds'`,
};
const UNLOCK = { name: "errand-unlock", text: "select graphile_worker.force_unlock_workers($1::text[])" };
const RECORD_POOL = { name: "errand-record-pool", text: "update errand.workers set pool = $2 where id = $1" };

interface DispatchParts {
  /** Connections for dispatching only, so that many commits do not delay it, and the other way round. */
  readonly pool: Pool;
  /** Tries once: the next check tries again. */
  readonly ask: Ask;
  readonly waking: Waking;
  readonly membership: Membership;
  readonly world: World;
  readonly take: (tree: TreeId) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/** Starts dispatching, and returns a function that stops it. */
export async function startDispatch(parts: DispatchParts): Promise<() => Promise<void>> {
  const { ask, waking, membership, world } = parts;
  const { Logger, run } = await loadGraphileWorker();
  /** The sweep repairs failed jobs, and the store reports a server that is away. */
  const silent = new Logger(() => () => undefined);
  let stopped = false;
  let sweptAt = Number.NEGATIVE_INFINITY;
  /** True once others can read the name under which this process locks jobs. */
  let poolRecorded = false;
  let runner = await start();

  async function start(): Promise<Runner> {
    const events: WorkerEvents = new EventEmitter();
    let pool = "";
    events.on("pool:create", ({ workerPool }) => (pool = workerPool.id));
    // It stops when a connection fails at a bad moment, and that takes long: the next one does not wait for it.
    events.once("pool:gracefulShutdown", () => void restart());
    const started = await run({
      pgPool: parts.pool,
      taskList: tasksFor(parts.take),
      preset: PRESET,
      // Given, so that it does not read the file `crontab` of the working folder.
      parsedCronItems: [],
      noHandleSignals: true,
      logger: silent,
      events,
    });
    started.promise.catch(() => undefined);
    membership.setPool(pool);
    poolRecorded = false;
    return started;
  }

  async function restart(): Promise<void> {
    while (!stopped) {
      await new Promise<void>((resolve) => world.after(RESTART_MS, resolve));
      if (stopped) return;
      try {
        runner = await start();
        return;
      } catch {
        // The server is away: try again later.
      }
    }
  }

  async function check(): Promise<number> {
    if (!poolRecorded) {
      await ask(RECORD_POOL, [membership.worker, membership.pool()]);
      poolRecorded = true;
    }
    const dead = membership.steady() ? await ask(DEAD, []) : [];
    const pools = dead.flatMap((row) => (typeof row["pool"] === "string" ? [row["pool"]] : []));
    if (pools.length > 0) await ask(UNLOCK, [pools]);
    const began = world.monotonic();
    if (dead.length === 0 && began - sweptAt < SWEEP_MS) return CHECK_MS;
    await waking.sweep(membership.steady());
    if (membership.steady()) await ask(DELETE_DEAD, []);
    sweptAt = began;
    return CHECK_MS;
  }

  const duty = createDuty({
    time: world,
    work: check,
    passes: passesByItself,
    // The store itself reports a temporary failure.
    onFailing: (error) => (passesByItself(error) ? undefined : parts.onFailure(error)),
    onRecovered: () => undefined,
  });
  await duty.now();
  return async () => {
    stopped = true;
    await duty.stop();
    await runner.stop().catch(() => undefined);
  };
}

function tasksFor(take: DispatchParts["take"]): TaskList {
  const tasks: TaskList = {};
  for (let format = 1; format <= JOURNAL_FORMAT; format += 1) {
    for (const name of [WAKE, TIMER]) {
      tasks[`${name}${format}`] = (payload) => take(asTreeId(textOf(payload as { tree: unknown }, "tree")));
    }
  }
  return tasks;
}
