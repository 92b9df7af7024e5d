/** Databases for tests: each empty and of its own, on the run's shared server, or on a server of the test's own. */

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
  /** Gives it back, whoever is still connected. */
  drop(): Promise<void>;
}

let made = 0;
/** Making a database copies some hundred files: those that were given back are emptied and used again. */
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

/** An empty database on the server that all tests of the run share. */
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

/** A server that a test may stop, with one empty database. */
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

/** A server that follows another and can take its place. */
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
