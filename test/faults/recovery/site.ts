/** Where a fault is tried: a store, and the files in which its tool and its channel leave their lines. */

import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, createServer, type OwnServer, runSql } from "../../support/postgres/databases.ts";
import { startSubject, type Subject } from "./start-subject.ts";

export type StoreKind = "SQLite" | "PostgreSQL";

/** Does the work when the test that asks for it has ended. Tests run beside one another, so that each has its own. */
export type AtEnd = (work: () => void | Promise<void>) => void;

export interface Site {
  readonly store: string;
  /** Starts a process that runs the store. It ends with the test. */
  start(): Promise<Subject>;
}

function newFolder(atEnd: AtEnd): string {
  const folder = mkdtempSync(join(tmpdir(), "errand-fault-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function siteOf(store: string, folder: string, atEnd: AtEnd): Site {
  const files = { toolFile: join(folder, "tool.log"), channelFile: join(folder, "channel.log") };
  return {
    store,
    async start() {
      const subject = await startSubject({ store, ...files });
      atEnd(subject.kill);
      return subject;
    },
  };
}

export async function siteIn(kind: StoreKind, atEnd: AtEnd): Promise<Site> {
  const folder = newFolder(atEnd);
  if (kind === "SQLite") return siteOf(join(folder, "errand.db"), folder, atEnd);
  const database = await createDatabase();
  atEnd(database.drop);
  return siteOf(database.url, folder, atEnd);
}

/** A database whose server can be stopped. */
export async function siteOnServer(atEnd: AtEnd): Promise<Site & { readonly server: OwnServer }> {
  const server = await createServer();
  atEnd(server.remove);
  return { ...siteOf(server.url, newFolder(atEnd), atEnd), server };
}

/** Mounting needs a right that a user, or a container, may not have. */
export const canMount =
  process.getuid?.() === 0 &&
  spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", import.meta.dirname]).status === 0;

export interface Disk {
  /** Leaves no room on it. */
  fill(): void;
  empty(): void;
  setWritable(writable: boolean): void;
}

/** The folder of a disk of so many bytes, below another folder. */
export function mountSmallDisk(bytes: number, outside: string, atEnd: AtEnd): string {
  const folder = join(outside, "disk");
  mkdirSync(folder);
  mount("-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", folder);
  atEnd(() => void spawnSync("umount", ["--lazy", folder]));
  return folder;
}

function smallDisk(bytes: number, outside: string, atEnd: AtEnd): Disk & { readonly folder: string } {
  const folder = mountSmallDisk(bytes, outside, atEnd);
  const ballast = join(folder, "ballast");
  return {
    folder,
    fill() {
      for (;;) {
        const { bavail, bsize } = statfsSync(folder);
        if (bavail === 0) return;
        appendFileSync(ballast, Buffer.alloc(Math.min(bavail * bsize, 65_536)));
      }
    },
    empty: () => rmSync(ballast),
    setWritable: (writable) => mount("-o", `remount,${writable ? "rw" : "ro"}`, folder),
  };
}

/** A store on a small disk. */
export function siteOnDisk(bytes: number, atEnd: AtEnd): Site & { readonly disk: Disk } {
  const outside = newFolder(atEnd);
  const disk = smallDisk(bytes, outside, atEnd);
  return { ...siteOf(join(disk.folder, "errand.db"), outside, atEnd), disk };
}

/**
 * A database whose tables are on a small disk. The write-ahead log has room: a server that cannot write its log stops
 * itself, which is an outage.
 */
export async function siteOnServerDisk(bytes: number, atEnd: AtEnd): Promise<Site & { readonly disk: Disk }> {
  const outside = newFolder(atEnd);
  const disk = smallDisk(bytes, outside, atEnd);
  const server = await createServer();
  atEnd(server.remove);
  const { uid, gid } = statSync(server.data);
  chmodSync(outside, 0o711);
  const tables = join(disk.folder, "tables");
  mkdirSync(tables, { mode: 0o700 });
  chownSync(tables, uid, gid);
  await runSql(server.url, `create tablespace small location '${tables}'`);
  await runSql(server.url, "create database full_disk tablespace small");
  const url = new URL(server.url);
  url.pathname = "/full_disk";
  return { ...siteOf(url.href, outside, atEnd), disk };
}

function mount(...given: readonly string[]): void {
  const { status, stderr } = spawnSync("mount", given);
  if (status !== 0) throw new Error(`mount ${given.join(" ")}: ${stderr.toString()}`);
}
