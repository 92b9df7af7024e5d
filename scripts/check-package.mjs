/**
 * Checks the contents of the npm package: the built files, the documentation, the examples and package.json, nothing
 * else; and every file that `exports` and `bin` of package.json name. It reads dist/, so `npm run build` comes first.
 */
import { execSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { installRuntimeTree } from "./runtime-tree.mjs";
import { root } from "./setup.mjs";

const allowed = /^((dist|docs|examples)\/.+|package\.json|LICENSE|(README|CHANGELOG|CONTRIBUTING|bench\/NOTES)\.md)$/;
const forbiddenInDist = /\.test\.(js|d\.ts)$|\.tsbuildinfo$/;

/** @type {{ version: string, exports: Record<string, unknown>, bin: Record<string, string> }} */
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const listing = execSync("npm pack --dry-run --json --ignore-scripts", {
  cwd: root,
  encoding: "utf8",
  stdio: ["ignore", "pipe", "ignore"],
});
/** @type {string[]} */
const packed = JSON.parse(listing)[0].files.map((/** @type {{ path: string }} */ file) => file.path);

const problems = packed
  .filter((path) => !allowed.test(path) || forbiddenInDist.test(path))
  .map((path) => `${path} must not be published`);

const named = Object.values(manifest.exports).flatMap((target) =>
  typeof target === "string" ? [target] : Object.values(/** @type {Record<string, string>} */ (target)),
);
for (const target of [...named, ...Object.values(manifest.bin)]) {
  const path = target.replace(/^\.\//, "");
  const source = path.replace(/^dist\//, "src/").replace(/(\.d\.ts|\.js)$/, ".ts");
  if (packed.includes(path)) continue;
  if (existsSync(join(root, source))) problems.push(`package.json names ${path}, which would not be published`);
  else console.log(`package.json names ${path}, but ${source} does not exist`);
}
for (const path of Object.values(manifest.bin)) {
  if (packed.includes(path) && !readFileSync(join(root, path), "utf8").startsWith("#!/usr/bin/env node\n")) {
    problems.push(`${path} is a program, and must begin with #!/usr/bin/env node`);
  }
}

// The bundle works: every entry can be imported, and the program prints its version.
for (const target of named.filter((path) => path.endsWith(".js"))) {
  const { status, stderr } = spawnSync(process.execPath, [
    "--input-type=module",
    "-e",
    `await import(${JSON.stringify(pathToFileURL(join(root, target)).href)})`,
  ]);
  if (status !== 0) problems.push(`${target} cannot be imported: ${String(stderr).trim()}`);
}
for (const path of Object.values(manifest.bin)) {
  const { stdout } = spawnSync(process.execPath, [join(root, path), "--version"]);
  if (String(stdout) !== `${manifest.version}\n`) problems.push(`${path} --version does not say ${manifest.version}`);
  const { status, stderr } = spawnSync(process.execPath, [
    join(root, path),
    "run",
    "--model",
    "offline/rehearsal",
    "--store",
    "memory",
    "hello",
  ]);
  if (status !== 0) problems.push(`${path} run fails: ${String(stderr).trim()}`);
}

// Installed with its runtime packages alone, it works, and for a PostgreSQL store it names the missing packages.
const place = mkdtempSync(join(tmpdir(), "errand-package-"));
try {
  const installed = join(place, "node_modules", "errand");
  mkdirSync(installed, { recursive: true });
  for (const path of packed) {
    mkdirSync(dirname(join(installed, path)), { recursive: true });
    cpSync(join(root, path), join(installed, path));
  }
  installRuntimeTree(root, place);
  /** @param {string[]} args */
  const errand = (...args) => {
    const env = { ...process.env, HOME: place, NODE_PATH: "" };
    return spawnSync(process.execPath, [join(installed, "dist", "cli", "main.js"), ...args], { cwd: place, env });
  };
  const store = join(place, "some.db");
  const { status, stderr } = errand("run", "--model", "offline/rehearsal", "--store", store, "hello");
  if (status !== 0)
    problems.push(`the package does not work with its runtime packages alone: ${String(stderr).trim()}`);
  const refused = String(errand("ps", "--store", "postgres://127.0.0.1:9/none").stderr);
  if (!refused.includes("(package-missing)")) problems.push(`without pg it does not say what to install: ${refused}`);
} finally {
  rmSync(place, { recursive: true, force: true });
}

for (const problem of problems) console.error(problem);
console.log(`${packed.length} files would be published`);
process.exitCode = problems.length === 0 ? 0 : 1;
