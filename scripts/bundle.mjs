/**
 * Bundles the JavaScript of the package: the entries that `exports` and `bin` of package.json name, and shared chunks.
 * A process then loads a dozen files in place of hundreds, which is most of its start time. Types stay one file for
 * each module, as tsc writes them.
 *
 * Chunks are in `dist/chunks`, two folders below package.json, as most modules are in `src/FOLDER`. So a path relative
 * to `import.meta.url` works in both.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { root } from "./setup.mjs";

/** @type {{ exports: Record<string, string | { default: string }>, bin: Record<string, string> }} */
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const promised = [
  ...Object.values(manifest.exports).map((target) => (typeof target === "string" ? target : target.default)),
  ...Object.values(manifest.bin),
].filter((target) => target.endsWith(".js"));
const names = promised.map((target) => target.replace(/^(\.\/)?dist\//, "").replace(/\.js$/, ""));

/** Modules that processes load together are one file, because each file costs 0.3 ms to load, whatever its size. */
const TOGETHER = [
  // These are not merged: `errand --version` loads nothing else.
  { name: null, roots: ["cli/start"] },
  { name: "text", roots: ["core/text/index"] },
  // Every command loads this.
  {
    name: "command-line",
    roots: ["cli/program", "cli/process-host", "models/registry/model-registry", "runners/subprocess"],
  },
  { name: "library", roots: ["index"] },
  // Commands that run trees load this.
  { name: "work", roots: ["cli/commands/run/run"] },
];

/** @typedef {(id: string) => { importedIds: string[] } | null} InfoOf */

/**
 * These modules and all that they import statically, directly or not.
 * @param {readonly string[]} roots
 * @param {InfoOf} infoOf
 */
function reachedFrom(roots, infoOf) {
  const reached = new Set(roots.map((name) => join(root, "src", `${name}.ts`)));
  for (const id of reached) for (const imported of infoOf(id)?.importedIds ?? []) reached.add(imported);
  return reached;
}

/** @type {{ name: string | null, modules: Set<string> }[] | null} */
let parts = null;

/**
 * The name of the chunk for a module, or null if the bundler decides. Modules that the library and the command line
 * both load are in a chunk of their own, `shared`.
 * @param {string} id
 * @param {InfoOf} infoOf
 */
function fileOf(id, infoOf) {
  if (names.some((name) => id === join(root, "src", `${name}.ts`))) return null;
  parts ??= TOGETHER.map(({ name, roots }) => ({ name, modules: reachedFrom(roots, infoOf) }));
  const [first, second] = parts.filter(({ modules }) => modules.has(id)).map(({ name }) => name);
  return first === "command-line" && second === "library" ? "shared" : (first ?? null);
}

/**
 * Packages that stand in the bundle, so that a program that uses them installs nothing more. Their licenses go with it.
 */
const INCLUDED = ["@modelcontextprotocol/server", "@modelcontextprotocol/core", "zod"];

/** @param {string} id */
function isIncluded(id) {
  return INCLUDED.some((name) => id === name || id.startsWith(`${name}/`));
}

const bundle = await rolldown({
  input: Object.fromEntries(names.map((name) => [name, join(root, "src", `${name}.ts`)])),
  external: (id) => !id.startsWith(".") && !id.startsWith(root) && !isIncluded(id),
  platform: "node",
  preserveEntrySignatures: "allow-extension",
});
const { output } = await bundle.write({
  dir: join(root, "dist"),
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  codeSplitting: {
    // All that a chunk's modules import is in that chunk or in an earlier one, so chunks have no import cycles.
    includeDependenciesRecursively: false,
    groups: [
      { debugName: "together", name: (id, context) => fileOf(id, (imported) => context.getModuleInfo(imported)) },
    ],
  },
  // Not minified: an uncaught error prints the line that threw it. The maps hold the sources.
  minify: false,
  sourcemap: true,
});
await bundle.close();
const licenses = INCLUDED.map((name) => {
  const folder = join(root, "node_modules", name);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `${name} ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
});
writeFileSync(join(root, "dist", "THIRD-PARTY-LICENSES.txt"), licenses.join("\n----\n\n"));
console.log(`${output.length} files`);
