/** No two files import each other, types included. The linter checks it; this test checks that the linter does. */

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "./source-files.ts";

/** The files of a small project in which the linter finds an import cycle. */
function filesInCycles(files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), "errand-cycles-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of [".oxlintrc.json", "tsconfig.json"]) copyFileSync(join(ROOT, name), join(folder, name));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"), "dir");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const oxlint = join(ROOT, "node_modules", "oxlint", "bin", "oxlint");
  const { stdout } = spawnSync(process.execPath, [oxlint, "--format", "json"], { cwd: folder, encoding: "utf8" });
  const { diagnostics } = JSON.parse(stdout) as {
    readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
  };
  return [...new Set(diagnostics.filter(({ code }) => code === "import(no-cycle)").map(({ filename }) => filename))]
    .map((filename) => filename.replaceAll("\\", "/"))
    .toSorted();
}

test("the linter reports cycles of two and of three files, of values and of types, in each folder", () => {
  const cycle = {
    "src/a.ts": 'import { b } from "./b.ts";\nexport const a = (): number => b();\n',
    "src/b.ts": 'import { c } from "./c.ts";\nexport const b = (): number => c();\n',
    "src/c.ts": 'import { a } from "./a.ts";\nexport const c = (): number => a();\n',
    "test/d.ts": 'import type { E } from "./e.ts";\nexport type D = { readonly e?: E };\n',
    "test/e.ts": 'import type { D } from "./d.ts";\nexport type E = { readonly d?: D };\n',
    "scripts/f.mjs": 'import { g } from "./g.mjs";\nexport const f = () => g();\n',
    "scripts/g.mjs": 'import { f } from "./f.mjs";\nexport const g = () => f();\n',
  };
  const straight = {
    "src/h.ts": 'import { i } from "./i.ts";\nexport const h = (): number => i();\n',
    "src/i.ts": "export const i = (): number => 1;\n",
  };
  expect(filesInCycles({ ...cycle, ...straight })).toEqual(Object.keys(cycle).toSorted());
});
