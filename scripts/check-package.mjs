/**
 * Checks what `npm publish` would put into the package: the built files and three papers, nothing else; and that
 * everything that package.json promises (`exports`, `bin`) is among them. Reads dist/, so `npm run build` comes first.
 */
import { execSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

const wanted = /^(dist\/.+|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/;
const unwantedInDist = /\.test\.(js|d\.ts)$|\.tsbuildinfo$/;

/** @type {{ exports: Record<string, unknown>, bin: Record<string, string> }} */
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const listing = execSync("npm pack --dry-run --json --ignore-scripts", {
  cwd: root,
  encoding: "utf8",
  stdio: ["ignore", "pipe", "ignore"],
});
/** @type {string[]} */
const packed = JSON.parse(listing)[0].files.map((/** @type {{ path: string }} */ file) => file.path);

const problems = packed
  .filter((path) => !wanted.test(path) || unwantedInDist.test(path))
  .map((path) => `${path} would be published, and is not meant to be`);

const promised = Object.values(manifest.exports).flatMap((target) =>
  typeof target === "string" ? [target] : Object.values(/** @type {Record<string, string>} */ (target)),
);
for (const target of [...promised, ...Object.values(manifest.bin)]) {
  const path = target.replace(/^\.\//, "");
  const source = path.replace(/^dist\//, "src/").replace(/(\.d\.ts|\.js)$/, ".ts");
  if (packed.includes(path)) continue;
  if (existsSync(join(root, source))) problems.push(`${path} is promised by package.json and would not be published`);
  else console.log(`${path} is promised by package.json, but ${source} is not written yet`);
}
for (const path of Object.values(manifest.bin)) {
  if (packed.includes(path) && !readFileSync(join(root, path), "utf8").startsWith("#!/usr/bin/env node\n")) {
    problems.push(`${path} is a program, and must begin with #!/usr/bin/env node`);
  }
}

for (const problem of problems) console.error(problem);
console.log(`${packed.length} files would be published`);
process.exitCode = problems.length === 0 ? 0 : 1;
