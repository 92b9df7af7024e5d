/** Where the store of a soak is: a SQLite file or a PostgreSQL server of its own, on a disk that can be filled. */

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { type Cluster, createCluster, SUPERUSER } from "../support/postgres/cluster.ts";

export interface SoakPlace {
  /** A path or a URL. */
  readonly store: string;
  /** Where the unsafe tool leaves its lines. */
  readonly toolFile: string;
  /** Null where this user may not mount one. */
  readonly disk: SoakDisk | null;
  /** Null without a server. */
  readonly server: Pick<Cluster, "stop" | "start"> | null;
  remove(): Promise<void>;
}

export interface SoakDisk {
  /** Leaves no room on it. */
  fill(): void;
  empty(): void;
}

const DISK_BYTES = 4_000_000_000;
const FILL_TRIES = 100;

/** A disk in memory: it takes only what is written to it. */
function mountDisk(folder: string): SoakDisk | null {
  mkdirSync(folder);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_BYTES}`, "tmpfs", folder], { stdio: "ignore" });
  if (mounted.status !== 0) return null;
  const resize = (bytes: number): boolean =>
    spawnSync("mount", ["-o", `remount,size=${bytes}`, folder], { stdio: "ignore" }).status === 0;
  return {
    fill() {
      // Refused if something was written since it was measured.
      for (let tries = 0; tries < FILL_TRIES; tries += 1) {
        const { blocks, bfree, bsize } = statfsSync(folder);
        if (resize((blocks - bfree) * bsize)) return;
      }
      throw new Error(`the disk ${folder} could not be filled`);
    },
    empty() {
      if (!resize(DISK_BYTES)) throw new Error(`the disk ${folder} could not be emptied`);
    },
  };
}

export async function createPlace(kind: "sqlite" | "postgres"): Promise<SoakPlace> {
  const folder = mkdtempSync(join(tmpdir(), "errand-soak-"));
  const mount = join(folder, "disk");
  const disk = mountDisk(mount);
  const toolFile = join(folder, "struck.txt");
  const removeFolder = (): void => {
    if (disk !== null) spawnSync("umount", ["--lazy", mount], { stdio: "ignore" });
    rmSync(folder, { recursive: true, force: true });
  };
  if (kind === "sqlite")
    return { store: join(mount, "soak.db"), toolFile, disk, server: null, remove: async () => removeFolder() };
  const cluster = await createCluster({ fsync: true });
  const at = `postgres://${SUPERUSER}@127.0.0.1:${cluster.port}`;
  const client = new Client({ connectionString: `${at}/postgres` });
  await client.connect();
  if (disk === null) await client.query("create database soak");
  else await createDatabaseOn(client, join(mount, "tables"), folder, cluster.data);
  await client.end();
  return {
    store: `${at}/soak`,
    toolFile,
    disk,
    server: cluster,
    async remove() {
      await cluster.remove();
      removeFolder();
    },
  };
}

/** Its tables are on the disk; the write-ahead log is not, because a server that cannot write it stops itself. */
async function createDatabaseOn(client: Client, tables: string, folder: string, data: string): Promise<void> {
  const { uid, gid } = statSync(data);
  chmodSync(folder, 0o711);
  mkdirSync(tables, { mode: 0o700 });
  chownSync(tables, uid, gid);
  await client.query(`create tablespace small location '${tables}'`);
  await client.query("create database soak tablespace small");
}
