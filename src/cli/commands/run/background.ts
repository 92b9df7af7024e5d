/** What differs in the background process of `errand run --detach`: where it prints, and when it ends. */

import { appendFileSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "../../../contracts/store.ts";
import type { World } from "../../../contracts/world.ts";
import type { Host } from "../../host.ts";
import { withStore } from "../../store/open-view.ts";
import { databaseIs, projectScope, type StoreScope } from "../../store/scope.ts";

const MAX_LOG_BYTES = 1_048_576;
const KEPT_LOG_BYTES = MAX_LOG_BYTES / 2;
const POLL_MS = 250;

/**
 * The log stands in the folder of the project's stores, or beside a file that was named. A database has no folder, and
 * its URL must not become the name of a file.
 */
export function logPathOf(scope: StoreScope, host: Pick<Host, "env" | "home" | "folder">): string {
  if (scope.kind === "named" && !databaseIs(scope)) return `${scope.store}-log`;
  return join(projectScope(host.folder, host).folder, "background-log");
}

/**
 * The same host for a process whose standard output and error are this log: it keeps the last lines, up to `most`
 * bytes.
 */
export function withBoundedLog(host: Host, path: string, most = MAX_LOG_BYTES, kept = KEPT_LOG_BYTES): Host {
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const write = (text: string): void => {
    size += Buffer.byteLength(text);
    if (size > most) size = shorten(path, kept) + Buffer.byteLength(text);
    host.err(text);
  };
  return { ...host, out: write, err: write };
}

/** Keeps the last lines. The process has the file open to append, so the next text comes after them. */
function shorten(path: string, kept: number): number {
  const bytes = readFileSync(path).subarray(-kept);
  const rest = bytes.subarray(bytes.indexOf(10) + 1);
  truncateSync(path, 0);
  appendFileSync(path, "(earlier lines are gone)\n");
  appendFileSync(path, rest);
  return statSync(path).size;
}

/** Resolves when no tree of the store has anything to do that this process could do. */
export function storeDone(path: string, world: World): Promise<void> {
  return withStore(path, async (store) => {
    while (await workLeft(store)) await new Promise<void>((resolve) => world.after(POLL_MS, resolve));
  });
}

async function workLeft(store: Store): Promise<boolean> {
  if ((await store.pendingMail(1)).length > 0) return true;
  for (const id of await store.unfinished(Number.MAX_SAFE_INTEGER)) {
    // This process cannot move a tree on that it could not load.
    if ((await store.tree(id))?.failures === 0) return true;
  }
  return false;
}
