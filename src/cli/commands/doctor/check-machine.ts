/** Checks what Errand needs of the machine: Node.js, SQLite, isolation of commands, the disk, and the terminal. */

import { errorText } from "../../../errors.ts";
import { open, readFile, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { World } from "../../../contracts/world.ts";
import { firstOf } from "../../../models/registry/model-sources.ts";
import { canonicalPath, requireSqlite } from "../../../stores/sqlite/open-database.ts";
import { findEnclosure, UNENCLOSED } from "../../../tools/index.ts";
import type { Host } from "../../host.ts";
import { problemOf } from "../../problem.ts";
import { broken, type Finding, ok, warning } from "./finding.ts";

const TRIAL_BYTES = 1_048_576;
/** Every commit waits for the disk. */
const SLOW_MS = 1_000;
/** Columns of a terminal. */
const NARROW = 40;

/** main.ts has checked the version before anything else was loaded. */
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

/** Whether commands that agents run are isolated from this process and end with it. */
export async function checkCommands(env: Readonly<Record<string, string | undefined>>): Promise<Finding> {
  const { prefix } = await findEnclosure({ PATH: env["PATH"] ?? "" });
  if (prefix.length > 0)
    return ok("commands", "each runs in a pid namespace of its own, which hides Errand's environment");
  const remedy =
    "On Linux, install util-linux (unshare, setpriv) and allow user namespaces: " +
    "sysctl kernel.unprivileged_userns_clone=1, or on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0. " +
    "Other systems have none: allow only commands you trust.";
  return warning("commands", UNENCLOSED, remedy);
}

/** Writes a file beside the store, makes it durable, reads it back and removes it. */
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

/** The folder itself, or the nearest one above it that exists. */
function nearestFolder(folder: string): string {
  const above = dirname(folder);
  return existsSync(folder) || above === folder ? folder : nearestFolder(above);
}

export function checkTerminal({ env, screen, colours }: Host): Finding {
  if (screen === null) {
    const why = env["TERM"] === "dumb" ? "TERM is dumb" : "standard output is no terminal";
    return ok("terminal", `plain lines, because ${why}`);
  }
  const { columns, rows } = screen.size();
  const text = `${columns} columns, ${rows} rows, ${colours.out === null ? "no colours" : "colours"}, live tree`;
  if (columns < NARROW) return warning("terminal", text, `Make the window at least ${NARROW} columns wide.`);
  const locale = firstOf(env, ["LC_ALL", "LC_CTYPE", "LANG"]);
  if (locale !== null && !/utf-?8/i.test(locale.value)) {
    const remedy = "Use a UTF-8 locale, such as LANG=C.UTF-8, or the lines of the tree may look broken.";
    return warning("terminal", `${text}, but ${locale.name} is ${locale.value}`, remedy);
  }
  return ok("terminal", text);
}
