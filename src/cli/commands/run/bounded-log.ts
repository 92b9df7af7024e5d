/** The log of background processes: what they print, the newest of it, never more than a bound. */

import { appendFileSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../host.ts";
import { databaseIs, projectScope, type StoreScope } from "../../store/scope.ts";

const MOST_BYTES = 1_048_576;
const KEPT_BYTES = MOST_BYTES / 2;

/**
 * In the folder of the project's stores, or beside the file that was named; a database has no folder, and its URL
 * must not become a name.
 */
export function logPathOf(scope: StoreScope, host: Pick<Host, "env" | "home" | "folder">): string {
  if (scope.kind === "named" && !databaseIs(scope)) return `${scope.store}-log`;
  return join(projectScope(host.folder, host).folder, "background-log");
}

/** The same host, printing into the log that its standard output and error are. */
export function withBoundedLog(host: Host, path: string, most = MOST_BYTES, kept = KEPT_BYTES): Host {
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const write = (text: string): void => {
    size += Buffer.byteLength(text);
    if (size > most) size = shorten(path, kept) + Buffer.byteLength(text);
    host.err(text);
  };
  return { ...host, out: write, err: write };
}

/** Keeps the last lines. The file is open to append, so that whatever is written next stands after them. */
function shorten(path: string, kept: number): number {
  const bytes = readFileSync(path).subarray(-kept);
  const rest = bytes.subarray(bytes.indexOf(10) + 1);
  truncateSync(path, 0);
  appendFileSync(path, "(earlier lines are gone)\n");
  appendFileSync(path, rest);
  return statSync(path).size;
}
