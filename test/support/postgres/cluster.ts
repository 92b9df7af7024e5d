/**
 * A private PostgreSQL server: made in a temporary folder, reachable on the loopback only, stopped by its pid and
 * deleted with its folder. It runs below the guard process (guard.ts), so that it ends with the tests.
 */

import { type ChildProcess, spawn, spawnSync, type SpawnSyncOptions } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NO_POSTGRES, postgresPrograms } from "../../../scripts/postgres.mjs";

export interface Cluster {
  readonly port: number;
  /** Its data folder. */
  readonly data: string;
  /** `fast`: a normal stop. `immediate`: as after a power failure. */
  stop(mode: StopMode): Promise<void>;
  start(): Promise<void>;
  /** Stops it and deletes its folder. */
  remove(): Promise<void>;
}

export type StopMode = "fast" | "immediate";

/** The owner of every database, and a user who needs a password. */
export const SUPERUSER = "errand";
export const GUARDED = "guarded";
export const GUARDED_PASSWORD = "correct-horse";

const START_WITHIN_MS = 30_000;
const POLL_MS = 20;
const SIGNALS: Readonly<Record<StopMode, NodeJS.Signals>> = { fast: "SIGINT", immediate: "SIGQUIT" };

const ACCESS = `
local all all trust
host all ${GUARDED} 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
host replication all 127.0.0.1/32 trust
`;

/** The settings of every test server. `fsync` is off unless a test crashes the server. */
function settings(port: number, folder: string, fsync: boolean): string {
  return `
listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = '${folder}'
fsync = ${fsync ? "on" : "off"}
full_page_writes = ${fsync ? "on" : "off"}
max_connections = 200
shared_buffers = '64MB'
max_wal_senders = 4
wal_level = replica
log_min_messages = warning
`;
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    const ask = (flag: string) => Number(spawnSync("id", [flag, name], { encoding: "utf8" }).stdout);
    const [uid, gid] = [ask("-u"), ask("-g")];
    if (uid > 0 && gid > 0) return { uid, gid };
  }
  throw new Error("PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it.");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Makes the data folder of a new server or of a standby. */
function makeData(programs: string, data: string, standbyOf: number | undefined, how: SpawnSyncOptions): void {
  const [program, args] =
    standbyOf === undefined
      ? ["initdb", ["-D", data, "-U", SUPERUSER, "-E", "UTF8", "--locale=C", "--no-sync", "--auth=trust"]]
      : [
          "pg_basebackup",
          ["-D", data, "-h", "127.0.0.1", "-p", String(standbyOf), "-U", SUPERUSER, "-R", "-c", "fast", "--no-sync"],
        ];
  const made = spawnSync(join(programs, program), args, { ...how, encoding: "utf8" });
  if (made.status !== 0) throw new Error(`${program} failed: ${made.stderr}${made.stdout}`);
}

export interface ClusterOptions {
  readonly fsync: boolean;
  /** The port of the primary, for a standby. */
  readonly standbyOf?: number;
}

export async function createCluster({ fsync, standbyOf }: ClusterOptions): Promise<Cluster> {
  const programs = postgresPrograms();
  if (programs === null) throw new Error(NO_POSTGRES);
  const user = unprivileged();
  const folder = mkdtempSync(join(tmpdir(), "errand-postgres-"));
  const data = join(folder, "data");
  mkdirSync(data);
  chmodSync(data, 0o700);
  if (user.uid !== undefined && user.gid !== undefined) {
    for (const place of [folder, data]) chownSync(place, user.uid, user.gid);
  }
  makeData(programs, data, standbyOf, { ...user, cwd: folder });
  const port = await freePort();
  appendFileSync(join(data, "postgresql.conf"), settings(port, folder, fsync));
  writeFileSync(join(data, "pg_hba.conf"), ACCESS);
  let server: ChildProcess | null = null;
  const log = join(folder, "errors.log");

  async function start(): Promise<void> {
    const started = spawn(join(programs ?? "", "postgres"), ["-D", data], {
      ...user,
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    started.stderr.on("data", (chunk: Buffer) => appendFileSync(log, chunk));
    server = started;
    for (let waited = 0; waited < START_WITHIN_MS; waited += POLL_MS) {
      if (started.exitCode !== null) break;
      if (await ready()) return;
      await sleep(POLL_MS);
    }
    throw new Error(`PostgreSQL did not start: ${readFileSync(log, "utf8")}`);
  }

  /** The eighth line of postmaster.pid is the status. */
  async function ready(): Promise<boolean> {
    try {
      const lines = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
      return ["ready", "standby"].includes(lines[7]?.trim() ?? "") && (await answers(port));
    } catch {
      return false;
    }
  }

  async function stop(mode: StopMode): Promise<void> {
    const running = server;
    server = null;
    if (running === null || running.exitCode !== null) return;
    const gone = once(running, "exit");
    running.kill(SIGNALS[mode]);
    await gone;
  }

  await start();
  return {
    port,
    data,
    start,
    stop,
    async remove() {
      await stop("immediate");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
