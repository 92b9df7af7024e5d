/**
 * Installs the dependencies and the project's own Node, as package-lock.json says.
 *
 * It runs before anything is installed, on the machine's Node: plain JavaScript, Node 18 or newer, built-in modules
 * only.
 *
 * 1. With nothing to do it starts no npm and writes nothing.
 * 2. The stamp in node_modules is written last, after the installed Node was started once.
 * 3. The npm that it starts does not inherit the options of the npm that started it (`npm test --json`, INIT_CWD).
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const isWindows = process.platform === "win32";
const modules = join(root, "node_modules");
const stampFile = join(modules, ".errand-setup");
const platform = `${process.platform}-${process.arch}`;
const oldestNode = { major: 22, minor: 18 };

/** The Node of the package `node`. On Windows the entry in .bin is a shell script, so this is the program itself. */
export const projectNode = isWindows ? join(modules, "node", "bin", "node.exe") : join(modules, ".bin", "node");

class SetupError extends Error {}

/** Throws a SetupError, whose message is for the person at the terminal. */
function setUp() {
  const stamp = readIfThere(stampFile);
  if (stamp !== wantedStamp()) {
    const stampedPlatform = stamp === undefined ? platform : stamp.trim().split(" ")[1];
    // npm keeps native modules of another platform, so node_modules has to be deleted.
    if (stampedPlatform !== platform) rmSync(modules, { recursive: true, force: true });
    process.stderr.write("Installing dependencies (needed once, takes some seconds) …\n");
    npm(["install", "--no-audit", "--no-fund", "--include=dev"], "npm could not install the dependencies.");
  }
  if (!isNewEnough(projectNodeVersion())) repairNode();
  const wanted = wantedStamp();
  if (stamp !== wanted) writeFileSync(stampFile, wanted);
}

function wantedStamp() {
  const lock = readIfThere(join(root, "package-lock.json"));
  if (lock === undefined) throw new SetupError("package-lock.json is missing: restore it from version control.");
  return `${createHash("sha256").update(lock).digest("hex")} ${platform}\n`;
}

/** An install script fetches the binary, so npm with ignore-scripts does not install it. */
function repairNode() {
  process.stderr.write("Installing the project's own Node …\n");
  // npm would run the install script with a broken Node, so delete that first.
  rmSync(join(modules, ".bin", "node"), { force: true });
  rmSync(join(modules, "node", "bin"), { recursive: true, force: true });
  npm(["rebuild", "node", "--ignore-scripts=false"], "npm could not install the project's own Node.");
  const version = projectNodeVersion();
  if (isNewEnough(version)) return;
  throw new SetupError(
    `The project's own Node ${version === undefined ? "does not start" : `is too old (${version})`}. ` +
      "Delete node_modules and run `npm install --ignore-scripts=false`.",
  );
}

/** @returns {string | undefined} */
function projectNodeVersion() {
  if (!existsSync(projectNode)) return undefined;
  if (realpathSync(projectNode) === realpathSync(process.execPath)) return process.versions.node;
  const result = spawnSync(projectNode, ["--version"], { encoding: "utf8" });
  return result.status === 0 ? result.stdout.trim().replace(/^v/, "") : undefined;
}

/** @param {string | undefined} version */
function isNewEnough(version) {
  if (version === undefined) return false;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > oldestNode.major || (major === oldestNode.major && minor >= oldestNode.minor);
}

/**
 * Runs npm in the root, and prints its output only if it fails.
 * @param {string[]} args
 * @param {string} failure
 */
function npm(args, failure) {
  // Inside an npm script use the same npm and Node, else the npm on the PATH.
  const { npm_execpath: cli = "", npm_node_execpath: node = "" } = process.env;
  const nested = cli.endsWith("npm-cli.js") && existsSync(cli) && existsSync(node);
  const result = spawnSync(nested ? node : "npm", nested ? [cli, ...args] : args, {
    cwd: root,
    env: npmEnvironment(process.env),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 64 * 1024 * 1024,
    shell: isWindows && !nested,
  });
  if (result.status === 0) return;
  const output = `${result.stdout || ""}${result.stderr || ""}${result.error ? String(result.error) : ""}`;
  const lines = output.split("\n").filter((line) => line.trim() !== "" && !/EBADENGINE/.test(line));
  process.stderr.write(`${lines.join("\n")}\n`);
  throw new SetupError(`${failure} Its output is above; \`npm ${args.join(" ")}\` tries it again.`);
}

/** Variables of the outer npm command. The settings of a person (registry, proxy, credentials) are not among them. */
const ofOuterCommand = new RegExp(
  `^(init_cwd|npm_(command|execpath|node_execpath|lifecycle_.*|package_.*|config_(${[
    "call|dry_run|force|foreground_scripts|global|if_present|include|include_workspace_root|json|local_prefix|location",
    "long|loglevel|node_gyp|npm_version|omit|only|optional|package|package_lock|package_lock_only|parseable|prefix",
    "production|save.*|script_shell|silent|user_agent|workspace|workspaces|yes",
  ].join("|")})))$`,
  "i",
);

/** @param {NodeJS.ProcessEnv} outer */
function npmEnvironment(outer) {
  /** @type {NodeJS.ProcessEnv} */
  const inner = {};
  for (const name of Object.keys(outer)) {
    if (ofOuterCommand.test(name)) continue;
    // The project's own Node may be replaced while npm runs, so npm must not run on it.
    inner[name] = /^path$/i.test(name) ? withoutModules(outer[name] || "") : outer[name];
  }
  return inner;
}

/** @param {string} path */
function withoutModules(path) {
  const entries = path.split(delimiter);
  return entries.filter((entry) => !entry.startsWith(modules + sep)).join(delimiter);
}

/** @param {string} file */
function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Sets the project up. If that fails, prints the reason and ends the process with 1. */
export function setUpOrExit() {
  try {
    setUp();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`errand: ${error.message}\n`);
    process.exit(1);
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) setUpOrExit();
