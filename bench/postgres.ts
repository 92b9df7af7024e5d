/**
 * Delegations through PostgreSQL: `node bench/postgres.ts [--workers 1,2] [--rounds 3] [--trees 100]
 * [--delegations 50]`. Prints one JSON object a line for each round of each number of workers.
 *
 * It starts its own server, with fsync on, in a temporary folder. A process that runs no trees sends each tree one
 * message. The parent of the tree delegates to awaited children, one after the other; each child calls one tool and
 * reports (the default protocol: for each delegation 4 model calls of the child and 1 of the parent, at zero latency).
 * Each worker is a process. The latency of a delegation is the time between the row that created its run and the row
 * that ended it, by the clock of the database.
 *
 * Each round has new trees and the same workers. In the first round the workers and the server compile and plan what
 * they do for the first time.
 *
 * The rate depends on all that the machine does, so a round also prints the processor time of the workers and of the
 * server for one delegation.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import type { Store } from "../src/contracts/store.ts";
import { createErrand, type ErrandOptions } from "../src/index.ts";
import { asPostId, asTreeId, type TreeId } from "../src/core/values/ids.ts";
import { openStoreAt, sha256 } from "../src/runtime/create-runtime.ts";
import { mailOf } from "../src/runtime/messages/mail.ts";
import { callTool, createScriptedModels, say } from "../src/testing/index.ts";
import { createCluster, SUPERUSER } from "../test/support/postgres/cluster.ts";
import { familyProcessorMs, processorMs } from "./processor-time.ts";
import { commandOptions } from "../test/support/command-options.ts";

const values = commandOptions(
  {
    name: "node bench/postgres.ts",
    does: "Delegations a second of workers that share a PostgreSQL database, which it makes for itself.",
    examples: ["--workers 1,2 --rounds 3"],
  },
  {
    workers: { kind: "text", help: "Numbers of workers, each measured.", default: "1,2" },
    rounds: { kind: "count", help: "How often each is measured.", default: 3 },
    trees: { kind: "count", help: "Conversations at a time.", default: 100 },
    delegations: { kind: "count", help: "Delegations of each.", default: 50 },
    work: { kind: "text", help: "The URL of the database; for the processes that it starts." },
  },
);
/** Milliseconds of processor time. */
interface ProcessorTime {
  readonly workers: number;
  readonly server: number;
}

const workers = values.workers.split(",").map(Number);
if (!workers.every((count) => Number.isSafeInteger(count) && count > 0)) {
  process.stderr.write(`errand: --workers takes numbers such as 1,2, not "${values.workers}".\n`);
  process.exit(2);
}
const trees = values.trees;
const each = values.delegations;

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
    agents: {
      orchestrator: { prompt: "You are the parent.", model: "scripted/parent" },
      worker: { prompt: "You are a child.", model: "scripted/child" },
      researcher: { prompt: "You are a child.", model: "scripted/child" },
    },
  };
}

async function makeTrees(url: string): Promise<TreeId[]> {
  const errand = await createErrand({ ...optionsFor(url), recover: false });
  const made: TreeId[] = [];
  for (let number = 0; number < trees; number += 1) made.push(asTreeId((await errand.openAgent()).id));
  await errand.close();
  return made;
}

interface Workers {
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

async function startWorkers(url: string, count: number): Promise<Workers> {
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
  return {
    pids: started.flatMap(({ pid }) => pid ?? []),
    async stop() {
      const gone = started.map((worker) => once(worker, "exit"));
      for (const worker of started) worker.kill("SIGTERM");
      await Promise.all(gone);
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0);
const hundredths = (number: number): number => Math.round(number * 100) / 100;

async function measureRound(client: Client, store: Store, made: readonly TreeId[], spent: () => ProcessorTime) {
  const first = async (sql: string, values: unknown[] = []): Promise<Readonly<Record<string, number>>> =>
    (await client.query<Record<string, number>>(sql, values)).rows[0] ?? {};
  const before = spent();
  const { now: began = 0 } = await first("select (extract(epoch from clock_timestamp()) * 1000)::float8 as now");
  await Promise.all(
    made.map((tree) => {
      const input = { type: "message-posted", id: asPostId("go"), to: 0, kind: "user", size: 2 } as const;
      return store.putMail(mailOf(tree, input, ["go"], sha256));
    }),
  );
  const open = "select count(*)::int as left from errand.posts where ended_seq is null";
  while ((await first(open))["left"] !== 0) await sleep(20);
  const after = spent();
  const {
    delegations = 0,
    ended = 0,
    p50,
    p99,
  } = await first(
    `select count(*)::int as delegations, max(ended_at)::float8 as ended,
       percentile_cont(0.5) within group (order by ended_at - r.created_at) as p50,
       percentile_cont(0.99) within group (order by ended_at - r.created_at) as p99
     from errand.runs r join errand.trees t on t.key = r.tree where t.id = any ($1) and r.state = 4 and r.status = 0`,
    [made],
  );
  if (delegations !== trees * each) throw new Error(`${delegations} of ${trees * each} delegations ended well`);
  const seconds = (ended - began) / 1_000;
  return {
    delegations,
    seconds: hundredths(seconds),
    perSecond: Math.round(delegations / seconds),
    p50Ms: p50,
    p99Ms: p99,
    workersCpuMs: hundredths((after.workers - before.workers) / delegations),
    serverCpuMs: hundredths((after.server - before.server) / delegations),
  };
}

async function measure(server: string, postmaster: number, count: number): Promise<void> {
  const name = `bench_${count}`;
  const admin = new Client({ connectionString: `${server}/postgres` });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const url = `${server}/${name}`;
  let made = await makeTrees(url);
  const workers = await startWorkers(url, count);
  const store = await openStoreAt(url, "read");
  const client = new Client({ connectionString: url });
  await client.connect();
  const spent = (): ProcessorTime => ({
    workers: sum(workers.pids.map((pid) => processorMs(pid))),
    server: familyProcessorMs(postmaster),
  });
  for (let round = 1; round <= values.rounds; round += 1) {
    const result = { workers: count, round, trees, ...(await measureRound(client, store, made, spent)) };
    process.stdout.write(`${JSON.stringify(result)}\n`);
    if (round < values.rounds) made = await makeTrees(url);
  }
  await client.end();
  await store.close();
  await workers.stop();
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
    for (const count of workers) {
      const postmaster = Number(readFileSync(join(cluster.data, "postmaster.pid"), "utf8").split("\n")[0]);
      await measure(`postgres://${SUPERUSER}@127.0.0.1:${cluster.port}`, postmaster, count);
    }
  } finally {
    await cluster.remove();
  }
}
