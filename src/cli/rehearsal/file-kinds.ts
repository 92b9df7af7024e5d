/** Guesses from its path what a file is for. */

import { extensionOf, nameOf } from "./tool-outputs.ts";

const CODE = (
  "ts tsx mts cts js jsx mjs cjs py rs go java kt kts scala rb php c h cc cpp hpp cs swift m lua ex exs erl hs ml " +
  "clj dart vue svelte sh sql zig nim r jl pl"
).split(" ");
const DOCUMENTS = "md mdx rst adoc txt json jsonc yaml yml toml ini cfg conf env properties xml".split(" ");

export const SOURCE_GLOB = `*.{${CODE.join(",")}}`;
export const DOCUMENT_GLOB = `*.{${DOCUMENTS.join(",")}}`;

export function codeIs(path: string): boolean {
  return CODE.includes(extensionOf(path).slice(1));
}

export function testIs(path: string): boolean {
  if (!codeIs(path)) return false;
  const name = nameOf(path);
  return (
    /(^|\/)(tests?|__tests__|specs?|e2e)\//.test(path) ||
    /[._-](tests?|spec)\.[^.]+$/.test(name) ||
    /^test_.*\.py$/.test(name) ||
    /Tests?\.(java|kt|cs|swift)$/.test(name)
  );
}

/** How much a match in this file is worth: 0 for lock files and generated files. */
export function weightOf(path: string): number {
  const name = nameOf(path);
  if (/(^|[-.])lock(\.|$)|\.lock$|^package-lock\.json$|^go\.sum$|\.min\.(js|css)$|\.map$|\.snap$|\.svg$/.test(name))
    return 0;
  if (/(^|\/)(vendor|third_party|generated|__snapshots__|fixtures?)\//.test(path)) return 1;
  if (/^changelog|^license|^copying/i.test(name)) return 1;
  if (codeIs(path)) return testIs(path) ? 3 : 5;
  return DOCUMENTS.includes(extensionOf(path).slice(1)) ? 4 : 2;
}
