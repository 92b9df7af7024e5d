/** What Errand stands on: Node.js, its SQLite, and a disk that keeps what it was told to keep. */

import { errorText } from "../../../errors.ts";
import { open, readFile, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { World } from "../../../contracts/world.ts";
import { canonicalPath, requireSqlite } from "../../../stores/sqlite/open-database.ts";
import { findEnclosure, UNENCLOSED } from "../../../tools/index.ts";
import { problemOf } from "../../problem.ts";
import { broken, type Finding, ok, warning } from "./finding.ts";

const TRIAL_BYTES = 1_048_576;
/** Every commit waits for the disk: one that takes longer is felt. */
const SLOW_MS = 1_000;

/** The version itself was looked at by main.ts, before anything else could be loaded. */
export function checkNode(): Finding {
  return ok("Node.js", `${process.versions.node} (22.18 or newer is needed)`);
}

export function checkSqlite(version: string): Finding {
  try {
    requireSqlite(version);
    return ok("SQLite", `${version} (3.51.3 or newer is needed)`);
  } catch (thrown) {
    const { message, remedy } = problemOf(thrown);
    return broken("SQLite", message, remedy ?? "");
  }
}

/** Whether commands that agents run are kept apart from this process, and end with it. */
export async function checkCommands(env: Readonly<Record<string, string | undefined>>): Promise<Finding> {
  const { prefix } = await findEnclosure({ PATH: env["PATH"] ?? "" });
  if (prefix.length > 0)
    return ok("commands", "each runs in a pid namespace of its own, which hides Errand's environment");
  const remedy =
    "On Linux, install util-linux (unshare, setpriv) and allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, " +
    "or on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0. Other systems have none: allow only commands you trust.";
  return warning("commands", UNENCLOSED, remedy);
}

/** Writes a file where the store is, makes it durable, reads it back and removes it. */
export async function checkDisk(store: string, world: World): Promise<Finding> {
  const folder = nearestFolder(dirname(canonicalPath(store)));
  const path = join(folder, `.errand-doctor-${world.random(8)}.tmp`);
  const began = world.monotonic();
  try {
    const bytes = Buffer.alloc(TRIAL_BYTES, world.random(64));
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    if (!(await readFile(path)).equals(bytes)) throw new Error("what was read is not what was written");
  } catch (thrown) {
    const why = errorText(thrown);
    const remedy = "Make room there and check that you may write, or name another place with --store PATH.";
    return broken("disk", `nothing can be kept in ${folder}: ${why}`, remedy);
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
  const took = world.monotonic() - began;
  const text = `1 MiB written and synced in ${took} ms in ${folder}`;
  if (took < SLOW_MS) return ok("disk", text);
  return warning("disk", text, "Every step waits for this disk: put the store on a faster or less busy one.");
}

/** The folder may not be there yet: then the one it will be made in. */
function nearestFolder(folder: string): string {
  const above = dirname(folder);
  return existsSync(folder) || above === folder ? folder : nearestFolder(above);
}
