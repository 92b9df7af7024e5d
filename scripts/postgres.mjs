/**
 * PostgreSQL for the tests: finds its programs, and installs Debian's package when they are missing and this user may. A server is
 * never started here; the tests start a private one and end it (test/support/postgres).
 *
 * Plain JavaScript, Node 18 or newer. `node scripts/postgres.mjs` installs what is missing and says nothing unless it cannot.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const NO_POSTGRES =
  "PostgreSQL cannot be had here, and the tests need one of their own: install it (apt-get install postgresql) or put initdb into PATH.";

const DEBIAN_PROGRAMS = "/usr/lib/postgresql";
const NO_CLUSTER_OF_ITS_OWN = "/etc/postgresql-common/createcluster.d/errand.conf";

/** @returns {string | null} The folder that holds `initdb` and `postgres`, or null. */
export function postgresPrograms() {
  const versions = existsSync(DEBIAN_PROGRAMS) ? readdirSync(DEBIAN_PROGRAMS) : [];
  const newest = versions.toSorted((one, other) => Number(other) - Number(one));
  const folders = [
    ...newest.map((version) => join(DEBIAN_PROGRAMS, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  for (const folder of folders) {
    const initdb = join(folder, "initdb");
    if (folder !== "" && existsSync(initdb)) return dirname(realpathSync(initdb));
  }
  return null;
}

/** Installs the package where that is possible without asking anybody. */
function install() {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (/** @type {string[]} */ args) =>
    spawnSync("apt-get", args, { env, stdio: "ignore", timeout: 300_000 }).status;
  // The package would make a server of its own and start it, which nobody asked for.
  if (!existsSync(NO_CLUSTER_OF_ITS_OWN)) {
    mkdirSync(dirname(NO_CLUSTER_OF_ITS_OWN), { recursive: true });
    writeFileSync(NO_CLUSTER_OF_ITS_OWN, "create_main_cluster = false\n");
  }
  const wanted = ["install", "-y", "-qq", "--no-install-recommends", "postgresql"];
  if (apt(wanted) === 0) return;
  if (apt(["update", "-qq"]) === 0) apt(wanted);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (postgresPrograms() === null) install();
  if (postgresPrograms() === null) process.stderr.write(`${NO_POSTGRES}\n`);
}
