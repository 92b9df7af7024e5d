/** Empty databases for tests, on the shared server of the run or on a private server of the test. */

import { Client } from "pg";
import { inject } from "vitest";
import { SUPERUSER, type StopMode } from "./cluster.ts";

export { GUARDED, GUARDED_PASSWORD } from "./cluster.ts";

async function ask<Answer>(method: "GET" | "POST" | "DELETE", path: string): Promise<Answer> {
  const response = await fetch(new URL(path, inject("postgresGuard")), { method });
  const answer = (await response.json()) as Answer & { readonly error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}

function databaseUrl(port: number, database: string, user = SUPERUSER): string {
  return `postgres://${user}@127.0.0.1:${port}/${database}`;
}

/** Runs SQL in a database, as its superuser. */
export async function runSql(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const result = await client.query<Record<string, unknown>>(sql);
    return result.rows;
  } finally {
    await client.end();
  }
}

export interface TestDatabase {
  readonly url: string;
  /** Ends its connections, empties it and lets other tests use it. */
  drop(): Promise<void>;
}

let made = 0;
/** Dropped databases, for reuse: creating one copies some hundred files. */
const free: string[] = [];

async function createDatabaseAt(port: number): Promise<string> {
  made += 1;
  const name = `errand_${process.pid}_${made}`;
  await runSql(databaseUrl(port, "postgres"), `create database ${name}`);
  return databaseUrl(port, name);
}

const EMPTY = `
  select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid();
  drop schema if exists errand cascade;
  drop schema if exists graphile_worker cascade;`;

/** An empty database on the shared server of the run. */
export async function createDatabase(): Promise<TestDatabase> {
  const { port } = await ask<{ port: number }>("GET", "/shared");
  const url = free.pop() ?? (await createDatabaseAt(port));
  return {
    url,
    async drop() {
      await runSql(url, EMPTY);
      free.push(url);
    },
  };
}

/** A private server that the test may stop, with one empty database. */
export interface OwnServer {
  readonly port: number;
  readonly data: string;
  readonly url: string;
  stop(mode: StopMode): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

export async function createServer(options: { readonly fsync?: boolean } = {}): Promise<OwnServer> {
  const made = await ask<{ port: number; data: string }>("POST", `/own?fsync=${options.fsync ? "on" : "off"}`);
  return ownServer(made, await createDatabaseAt(made.port));
}

/** A standby of another server. */
export async function createStandby(primary: OwnServer): Promise<OwnServer> {
  const made = await ask<{ port: number; data: string }>("POST", `/own?standbyOf=${primary.port}`);
  return ownServer(made, primary.url.replace(`:${primary.port}/`, `:${made.port}/`));
}

function ownServer({ port, data }: { readonly port: number; readonly data: string }, url: string): OwnServer {
  return {
    port,
    data,
    url,
    stop: async (mode) => void (await ask("POST", `/own/${port}/stop?mode=${mode}`)),
    start: async () => void (await ask("POST", `/own/${port}/start`)),
    remove: async () => void (await ask("DELETE", `/own/${port}`)),
  };
}
