/**
 * Delegations through PostgreSQL: `node bench/postgres.ts [--workers 1,2] [--trees 100] [--delegations 10]`. Prints one JSON object a line for each number of
 * workers.
 *
 * A server of its own, with fsync on, in a temporary folder. Each tree is sent one message by a process that runs none; its parent delegates to an awaited child again and
 * again, and the child calls one tool and reports (the default protocol: 4 model calls of the child and 1 of the parent for each delegation, at zero latency). Workers are
 * processes. A delegation's latency is from the row that created its run to the row that ended it, by the database's clock.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { createErrand, type ErrandOptions } from "../src/index.ts";
import { asPostId, asTreeId, type TreeId } from "../src/core/ids.ts";
import { openStoreAt, sha256 } from "../src/runtime/create-runtime.ts";
import { mailOf } from "../src/runtime/mail.ts";
import { callTool, createScriptedModels, say } from "../src/testing/index.ts";
import { createCluster, SUPERUSER } from "../test/support/postgres/cluster.ts";

const { values } = parseArgs({
  options: {
    workers: { type: "string", default: "1,2" },
    trees: { type: "string", default: "100" },
    delegations: { type: "string", default: "10" },
    /** The URL of the database, in the process of a worker. */
    work: { type: "string" },
  },
});
const trees = Number(values.trees);
const each = Number(values.delegations);

function optionsFor(store: string): ErrandOptions {
  return {
    store,
    slots: 1_000,
    limits: { runsPerTree: each + 1, turnIterations: each + 2 },
    models: [
      createScriptedModels({
        "scripted/parent": (_request, { replies }) =>
          replies < each ? callTool("subagent", { task: `errand ${replies}` }) : say("done"),
        "scripted/child": (_request, { replies }) => {
          if (replies === 0) return callTool("look", {});
          return replies === 1 ? callTool("send_agent_message", { text: "seen" }) : say("That was all.");
        },
      }),
    ],
    tools: [
      {
        name: "look",
        description: "Looks.",
        schema: { type: "object" },
        safe: true,
        run: async () => ({ text: "seen", failed: false }),
      },
    ],
    agents: [
      { name: "orchestrator", prompt: "You are the parent.", model: "scripted/parent" },
      { name: "worker", prompt: "You are a child.", model: "scripted/child" },
      { name: "researcher", prompt: "You are a child.", model: "scripted/child" },
    ],
  };
}

async function makeTrees(url: string): Promise<TreeId[]> {
  const errand = await createErrand({ ...optionsFor(url), recover: false });
  const made: TreeId[] = [];
  for (let number = 0; number < trees; number += 1) made.push(asTreeId((await errand.openAgent()).id));
  await errand.close();
  return made;
}

async function startWorkers(url: string, count: number): Promise<() => Promise<void>> {
  const started = Array.from({ length: count }, () =>
    spawn(process.execPath, [fileURLToPath(import.meta.url), "--work", url, "--delegations", String(each)], {
      stdio: ["ignore", "pipe", "inherit"],
    }),
  );
  for (const worker of started) {
    worker.on("exit", (code) => {
      if (code !== 0) throw new Error(`a worker ended with ${code}`);
    });
  }
  await Promise.all(started.map((worker) => once(worker.stdout, "data")));
  return async () => {
    const gone = started.map((worker) => once(worker, "exit"));
    for (const worker of started) worker.kill("SIGTERM");
    await Promise.all(gone);
  };
}

async function measure(server: string, workers: number): Promise<object> {
  const name = `bench_${workers}`;
  const admin = new Client({ connectionString: `${server}/postgres` });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const url = `${server}/${name}`;
  const made = await makeTrees(url);
  const stop = await startWorkers(url, workers);
  const store = await openStoreAt(url, "read");
  const client = new Client({ connectionString: url });
  await client.connect();
  const first = async (sql: string): Promise<Readonly<Record<string, number>>> =>
    (await client.query<Record<string, number>>(sql)).rows[0] ?? {};
  const { now: began = 0 } = await first("select (extract(epoch from clock_timestamp()) * 1000)::float8 as now");
  await Promise.all(
    made.map((tree) => {
      const input = { type: "message-posted", id: asPostId("go"), to: 0, kind: "user", size: 2 } as const;
      return store.putMail(mailOf(tree, input, ["go"], sha256));
    }),
  );
  const open = "select count(*)::int as left from errand.posts where ended_seq is null";
  while ((await first(open))["left"] !== 0) await sleep(20);
  const {
    delegations = 0,
    ended = 0,
    p50,
    p99,
  } = await first(`
    select count(*)::int as delegations, max(ended_at)::float8 as ended,
      percentile_cont(0.5) within group (order by ended_at - created_at) as p50,
      percentile_cont(0.99) within group (order by ended_at - created_at) as p99
    from errand.runs where state = 4 and status = 0`);
  await client.end();
  await store.close();
  await stop();
  if (delegations !== trees * each) throw new Error(`${delegations} of ${trees * each} delegations ended well`);
  const seconds = (ended - began) / 1_000;
  return { workers, trees, delegations, seconds, perSecond: Math.round(delegations / seconds), p50Ms: p50, p99Ms: p99 };
}

async function work(url: string): Promise<void> {
  const errand = await createErrand(optionsFor(url));
  process.on("SIGTERM", () => void errand.close({ withinMs: 0 }).then(() => process.exit(0)));
  process.stdout.write("started\n");
}

if (values.work !== undefined) await work(values.work);
else {
  const cluster = await createCluster({ fsync: true });
  try {
    for (const count of values.workers.split(",").map(Number)) {
      const result = await measure(`postgres://${SUPERUSER}@127.0.0.1:${cluster.port}`, count);
      process.stdout.write(`${JSON.stringify(result)}\n`);
    }
  } finally {
    await cluster.remove();
  }
}
