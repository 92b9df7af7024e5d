/** Owns the guess, by its path, at what a file is for. */

import { extensionOf, nameOf } from "./listing.ts";

const CODE: ReadonlySet<string> = new Set(
  (
    ".ts .tsx .mts .cts .js .jsx .mjs .cjs .py .rs .go .java .kt .kts .scala .rb .php .c .h .cc .cpp .hpp .cs .swift .m .lua .ex .exs .erl " +
    ".hs .ml .clj .dart .vue .svelte .sh .sql .zig .nim .r .jl .pl"
  ).split(" "),
);
const DOCUMENTS: ReadonlySet<string> = new Set(".md .mdx .rst .adoc .txt".split(" "));
const SETTINGS: ReadonlySet<string> = new Set(
  ".json .jsonc .yaml .yml .toml .ini .cfg .conf .env .properties .xml".split(" "),
);

export const DOCUMENT_GLOB = "*.{md,mdx,rst,adoc,txt,json,jsonc,yaml,yml,toml,ini,cfg,conf,env,properties,xml}";
export const SOURCE_GLOB =
  "*.{ts,tsx,mts,cts,js,jsx,mjs,cjs,py,rs,go,java,kt,kts,scala,rb,php,c,h,cc,cpp,hpp,cs,swift,lua,ex,exs,hs,ml,clj,dart,vue,svelte,sh,sql,zig}";

export function codeIs(path: string): boolean {
  return CODE.has(extensionOf(path));
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

/** How much a hit in this file is worth, from 0: lock files and generated files last. */
export function weightOf(path: string): number {
  const name = nameOf(path);
  if (/(^|[-.])lock(\.|$)|\.lock$|^package-lock\.json$|^go\.sum$|\.min\.(js|css)$|\.map$|\.snap$|\.svg$/.test(name))
    return 0;
  if (/(^|\/)(vendor|third_party|generated|__snapshots__|fixtures?)\//.test(path)) return 1;
  if (/^changelog|^license|^copying/i.test(name)) return 1;
  if (testIs(path)) return 3;
  if (codeIs(path)) return 5;
  if (DOCUMENTS.has(extensionOf(path))) return 4;
  if (SETTINGS.has(extensionOf(path))) return 4;
  return 2;
}
