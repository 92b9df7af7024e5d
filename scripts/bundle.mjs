/**
 * Writes the JavaScript of the package: what `exports` and `bin` of package.json name, and the chunks that they share. A process that starts
 * loads a dozen files instead of hundreds, which is most of the time that it takes. Types stay one file a module, as tsc wrote them.
 *
 * Chunks lie in `dist/chunks`, two folders below package.json, as most modules do in `src`: what is found through `import.meta.url` from there
 * is found from here.
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

/** What processes load together lies in one file, because each file costs a third of a millisecond, however small it is. */
const TOGETHER = [
  // Which stay where they are: the command that is asked for its version loads them alone.
  { name: null, roots: ["cli/start"] },
  { name: "text", roots: ["core/text/index"] },
  // Every command loads this, whatever it does.
  { name: "command-line", roots: ["cli/program", "cli/process-host", "models/registry/model-registry"] },
  { name: "library", roots: ["index"] },
  // Those that work on trees load this.
  { name: "work", roots: ["cli/commands/run"] },
];

/** @typedef {(id: string) => { importedIds: string[] } | null} InfoOf */

/**
 * The modules that these import, over any number of steps, and these themselves. What is imported when it is needed is not among them.
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
 * The file of a module, or null for one that lies where its importers want it. What the library shares with the command line is neither's.
 * @param {string} id
 * @param {InfoOf} infoOf
 */
function fileOf(id, infoOf) {
  if (names.some((name) => id === join(root, "src", `${name}.ts`))) return null;
  parts ??= TOGETHER.map(({ name, roots }) => ({ name, modules: reachedFrom(roots, infoOf) }));
  const [first, second] = parts.filter(({ modules }) => modules.has(id)).map(({ name }) => name);
  return first === "command-line" && second === "library" ? "shared" : (first ?? null);
}

/** What every command needs: it is part of the bundle, with the small print that it asks for, because ten files take longer to load than one. */
const BUNDLED = ["commander"];

/**
 * Takes from Node.js's own modules what is used of them. An import makes Node.js read every property of such a module, and some of them load
 * further modules.
 * @param {string} code
 */
function withPlainBuiltins(code) {
  const imports = /^import (?:([\w$]+)(?:, )?)?(?:\{([^}]*)\})? from "(node:[\w/]+)";$/gm;
  return code.replaceAll(imports, (_, whole, named, module) => {
    const made = `process.getBuiltinModule("${module}")`;
    const takenWhole = whole === undefined ? [] : [`const ${whole} = ${made};`];
    const taken = named === undefined ? [] : [`const {${named.replaceAll(/ as /g, ": ")}} = ${made};`];
    return [...takenWhole, ...taken].join("\n");
  });
}

const bundle = await rolldown({
  input: Object.fromEntries(names.map((name) => [name, join(root, "src", `${name}.ts`)])),
  external: (id) => !id.startsWith(".") && !id.startsWith(root) && !BUNDLED.includes(id),
  plugins: [{ name: "plain-builtins", renderChunk: withPlainBuiltins }],
  platform: "node",
  preserveEntrySignatures: "allow-extension",
});
const { output } = await bundle.write({
  dir: join(root, "dist"),
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  codeSplitting: {
    // Everything that a file's modules import lies in it or in one before it, so there are no circles.
    includeDependenciesRecursively: false,
    groups: [
      { debugName: "together", name: (id, context) => fileOf(id, (imported) => context.getModuleInfo(imported)) },
    ],
  },
  // Without comments and indentation, for less to read; names stay, for stacks that say something.
  minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
});
await bundle.close();
const licences = BUNDLED.map(
  (name) => `${name}\n\n${readFileSync(join(root, "node_modules", name, "LICENSE"), "utf8").trim()}\n`,
);
writeFileSync(join(root, "dist", "LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));
console.log(`${output.length} files`);
