/**
 * Dispatch: how a worker learns of trees that have something to do and no living owner.
 *
 * Invariants:
 *  1. A job lasts for as long as claiming a tree does. It never fails: what it could not do, the sweep finds again.
 *  2. The sweep comes every `SWEEP_MS`, and at once when a worker is found dead, whatever came of the one before. The jobs that a dead one had locked
 *     are unlocked.
 *  3. A dispatcher that stops by itself is started again.
 *
 * Jobs have no queue, and a worker fetches them one by one: whoever fetches a wake-up runs the tree, so that a heap of them taken at once
 * would heap the trees on one worker.
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
const LOOK_FOR_DEAD_MS = 1_000;
const AGAIN_MS = 1_000;
const PRESET: GraphileConfig.Preset = {
  worker: {
    // Not where the environment says: the statements of waking.ts name it.
    schema: "graphile_worker",
    concurrentJobs: 8,
    /** Its own look for jobs that it was not notified of. */
    pollInterval: 2_000,
    // In batches, though of those that are ready at once: the end of a job by itself is not waited for, and one that fails ends the process.
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
};

const DEAD = {
  name: "errand-dead",
  text: `select pool from errand.workers t where not ${workerLives("t.id")}`,
};
/** Of those that were silent for a lease nothing is left to know: whose row is gone is dead. */
const BURY = {
  name: "errand-bury-workers",
  text: `delete from errand.workers t where not ${workerLives("t.id")} and t.seen_at < clock_timestamp() - interval '${LEASE_MS} milliseconds'`,
};
const UNLOCK = { name: "errand-unlock", text: "select graphile_worker.force_unlock_workers($1::text[])" };
const SHOW_POOL = { name: "errand-show-pool", text: "update errand.workers set pool = $2 where id = $1" };

interface DispatchParts {
  /** Connections of its own: a heap of commits does not delay waking, nor the other way round. */
  readonly pool: Pool;
  /** Tries once: what fails is tried again with the next look. */
  readonly ask: Ask;
  readonly waking: Waking;
  readonly membership: Membership;
  readonly world: World;
  readonly take: (tree: TreeId) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/** Begins, and returns a function that ends it. */
export async function startDispatch(parts: DispatchParts): Promise<() => Promise<void>> {
  const { ask, waking, membership, world } = parts;
  const { Logger, run } = await loadGraphileWorker();
  /** What goes wrong with a job is mended by the sweep, and a server that is away is told of by whoever needs it. */
  const silent = new Logger(() => () => undefined);
  let stopped = false;
  let swept = Number.NEGATIVE_INFINITY;
  /** True once others can read under which name jobs are locked here. */
  let shown = false;
  let runner = await start();

  async function start(): Promise<Runner> {
    const events: WorkerEvents = new EventEmitter();
    let pool = "";
    events.on("pool:create", ({ workerPool }) => (pool = workerPool.id));
    // It gives up when a connection fails at the wrong moment, and takes long over it: the next one does not wait for that.
    events.once("pool:gracefulShutdown", () => void restart());
    const started = await run({
      pgPool: parts.pool,
      taskList: tasksFor(parts.take),
      preset: PRESET,
      // Given, so that it reads no file `crontab` of the working folder.
      parsedCronItems: [],
      noHandleSignals: true,
      logger: silent,
      events,
    });
    started.promise.catch(() => undefined);
    membership.show(pool);
    shown = false;
    return started;
  }

  async function restart(): Promise<void> {
    while (!stopped) {
      await new Promise<void>((resolve) => world.after(AGAIN_MS, resolve));
      if (stopped) return;
      try {
        runner = await start();
        return;
      } catch {
        // The server is away: again, a little later.
      }
    }
  }

  async function look(): Promise<number> {
    if (!shown) {
      await ask(SHOW_POOL, [membership.worker, membership.pool()]);
      shown = true;
    }
    const dead = membership.steady() ? await ask(DEAD, []) : [];
    const pools = dead.flatMap((row) => (typeof row["pool"] === "string" ? [row["pool"]] : []));
    if (pools.length > 0) await ask(UNLOCK, [pools]);
    const began = world.monotonic();
    if (dead.length === 0 && began - swept < SWEEP_MS) return LOOK_FOR_DEAD_MS;
    await waking.sweep(membership.steady());
    if (membership.steady()) await ask(BURY, []);
    swept = began;
    return LOOK_FOR_DEAD_MS;
  }

  const duty = createDuty({
    time: world,
    work: look,
    passes: passesByItself,
    // What passes is told by the store that it holds up.
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
