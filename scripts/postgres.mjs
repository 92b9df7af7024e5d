/**
 * Finds the PostgreSQL programs for the tests, and installs the Debian package if it is missing and this user may. It
 * starts no server: the tests start their own and stop it (test/support/postgres).
 *
 * Plain JavaScript, Node 18 or newer. `node scripts/postgres.mjs` prints only what it could not install.
 */
import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installPackages, mayInstall } from "./debian-packages.mjs";

export const NO_POSTGRES =
  "The tests need PostgreSQL. Install it (apt-get install postgresql) or put the folder of initdb into PATH.";

const DEBIAN_PROGRAMS = "/usr/lib/postgresql";
const CREATE_CLUSTER_SETTING = "/etc/postgresql-common/createcluster.d/errand.conf";

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

function install() {
  if (!mayInstall()) return;
  // By default the Debian package creates a server and starts it.
  if (!existsSync(CREATE_CLUSTER_SETTING)) {
    mkdirSync(dirname(CREATE_CLUSTER_SETTING), { recursive: true });
    writeFileSync(CREATE_CLUSTER_SETTING, "create_main_cluster = false\n");
  }
  installPackages(["postgresql"]);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (postgresPrograms() === null) install();
  if (postgresPrograms() === null) process.stderr.write(`${NO_POSTGRES}\n`);
}
