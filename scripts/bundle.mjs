/**
 * Writes the JavaScript of the package: what `exports` and `bin` of package.json name, and the chunks that they share. A process that starts
 * loads a dozen files instead of hundreds, which is most of the time that it takes. Types stay one file a module, as tsc wrote them.
 *
 * Chunks lie in `dist/chunks`, two folders below package.json, as most modules do in `src`: what is found through `import.meta.url` from there
 * is found from here.
 */
import { readFileSync } from "node:fs";
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

const bundle = await rolldown({
  input: Object.fromEntries(names.map((name) => [name, join(root, "src", `${name}.ts`)])),
  // Only what is Errand's own.
  external: (id) => !id.startsWith(".") && !id.startsWith(root),
  platform: "node",
});
const { output } = await bundle.write({
  dir: join(root, "dist"),
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  // Without comments and indentation, for less to read; names stay, for stacks that say something.
  minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
});
await bundle.close();
console.log(`${output.length} files`);
