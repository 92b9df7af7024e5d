/**
 * The process that runs the PostgreSQL servers of the tests. It holds a pipe from the test runner: when the pipe ends,
 * for any reason, it stops the servers and deletes their folders. It listens on the loopback, and starts a server when
 * a test asks for one.
 *
 * Requests: `GET /shared`; `POST /own?fsync=on&standbyOf=PORT`; `POST /own/PORT/stop?mode=fast`; `POST
 * /own/PORT/start`; `DELETE /own/PORT`.
 */

import { createServer, type IncomingMessage } from "node:http";
import { type Cluster, createCluster, GUARDED, GUARDED_PASSWORD, type StopMode, SUPERUSER } from "./cluster.ts";
import { Client } from "pg";

let shared: Promise<Cluster> | null = null;
const own = new Map<number, Cluster>();

async function startShared(): Promise<Cluster> {
  const cluster = await createCluster({ fsync: false });
  const client = new Client({ host: "127.0.0.1", port: cluster.port, user: SUPERUSER, database: "postgres" });
  await client.connect();
  await client.query(`create role ${GUARDED} login password '${GUARDED_PASSWORD}'`);
  await client.end();
  return cluster;
}

async function answer({ method = "GET", url = "/" }: IncomingMessage): Promise<object> {
  const { pathname, searchParams } = new URL(url, "http://guard");
  const [, kind, name, verb] = pathname.split("/");
  if (kind === "shared") {
    shared ??= startShared();
    const { port } = await shared;
    return { port };
  }
  if (name === undefined) {
    const followed = searchParams.get("standbyOf");
    const standby = followed === null ? {} : { standbyOf: Number(followed) };
    const cluster = await createCluster({ fsync: searchParams.get("fsync") === "on", ...standby });
    own.set(cluster.port, cluster);
    return { port: cluster.port, data: cluster.data };
  }
  const cluster = own.get(Number(name));
  if (cluster === undefined) throw new Error(`There is no server at port ${name}.`);
  if (method === "DELETE") {
    own.delete(cluster.port);
    await cluster.remove();
  } else if (verb === "stop") await cluster.stop((searchParams.get("mode") ?? "fast") as StopMode);
  else await cluster.start();
  return {};
}

const server = createServer((request, response) => {
  void answer(request).then(
    (value) => response.end(JSON.stringify(value)),
    (error: unknown) => response.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) })),
  );
});

async function end(): Promise<void> {
  const clusters = [...own.values()];
  try {
    if (shared !== null) clusters.push(await shared);
  } catch {
    // It did not start, and the test that asked for it got the error.
  }
  await Promise.allSettled(clusters.map((cluster) => cluster.remove()));
  process.exit(0);
}

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.stdout.write(`${address.port}\n`);
});
process.stdin.on("end", () => void end());
process.stdin.on("error", () => void end());
process.stdin.resume();
// Ctrl-C in a terminal, or closing it, signals the whole process group. The guard waits for the end of the pipe.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
