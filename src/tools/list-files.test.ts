import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { createListFilesTool } from "./list-files.ts";
import { runTool, temporaryFolder } from "./tool-run.test-support.ts";

const tool = createListFilesTool();

test("files are listed in code unit order, without skipped folders", async () => {
  const folder = temporaryFolder({
    "b.ts": "",
    "B.ts": "",
    "a/z.ts": "",
    "a-b.ts": "",
    "a.ts": "",
    "ä.ts": "",
    ".git/HEAD": "",
    "node_modules/x/index.js": "",
    "a/node_modules/y.js": "",
    "dist/out.js": "",
    "coverage/index.html": "",
    ".errand/store.db": "",
  });
  const { text, failed } = await runTool(tool, folder, {});
  expect(failed).toBe(false);
  expect(text.split("\n")).toEqual([
    "6 files in the workspace (2 folders opened).",
    "B.ts",
    "a-b.ts",
    "a.ts",
    "a/z.ts",
    "b.ts",
    "ä.ts",
  ]);
  const paths = text.split("\n").slice(1);
  expect(paths).toEqual(paths.toSorted());
});

test("patterns of the root .gitignore apply, and the last match decides", async () => {
  const folder = temporaryFolder({
    ".gitignore": "# made by the build\n*.log\n!keep.log\n/only-root.txt\nbuild/\n\ndocs/*.html\n",
    "a.log": "",
    "keep.log": "",
    "sub/b.log": "",
    "only-root.txt": "",
    "sub/only-root.txt": "",
    "build/x": "",
    "sub/build/y": "",
    "docs/i.html": "",
    "docs/deep/i.html": "",
  });
  const { text } = await runTool(tool, folder, {});
  expect(text.split("\n").slice(1)).toEqual([".gitignore", "docs/deep/i.html", "keep.log", "sub/only-root.txt"]);
  expect((await runTool(tool, folder, { path: "build" })).text).toContain("build/x");
});

test("a path, a glob and a depth narrow the list", async () => {
  const folder = temporaryFolder({
    "src/a.ts": "",
    "src/b.tsx": "",
    "src/deep/c.ts": "",
    "src/deep/d.md": "",
    "e.ts": "",
  });
  const lines = async (input: Parameters<typeof tool.run>[0]) =>
    (await runTool(tool, folder, input)).text.split("\n").slice(1);
  expect(await lines({ path: "src", glob: "*.ts" })).toEqual(["src/a.ts", "src/deep/c.ts"]);
  expect(await lines({ glob: "src/**/*.{ts,tsx}" })).toEqual(["src/a.ts", "src/b.tsx", "src/deep/c.ts"]);
  expect(await lines({ glob: "src/*.ts" })).toEqual(["src/a.ts"]);
  expect(await lines({ glob: "[a-c].ts*" })).toEqual(["src/a.ts", "src/b.tsx", "src/deep/c.ts"]);
  expect(await lines({ depth: 1 })).toEqual(["e.ts", "src/"]);
  expect(await lines({ depth: 2, path: "." })).toEqual(["e.ts", "src/a.ts", "src/b.tsx", "src/deep/"]);
  expect(await lines({ glob: "*.rs" })).toEqual([]);
});

test("a long list is cut, and says what each folder holds", async () => {
  const files: Record<string, string> = { "README.md": "" };
  for (let index = 0; index < 30; index++) files[`src/file-${index}.ts`] = "";
  files["src/notes.md"] = "";
  const { text } = await runTool(tool, temporaryFolder(files), { limit: 5 });
  const lines = text.split("\n");
  expect(lines[0]).toBe("32 files in the workspace (2 folders opened).");
  expect(lines.slice(6)).toEqual([
    "[truncated: 5 shown; narrow with path, glob or depth. What the folders hold:]",
    "./ 1 file (.md 1)",
    "src/ 31 files (.ts 30, .md 1)",
  ]);
});

test("symlinks are named and not followed, and pipes are counted", async () => {
  const folder = temporaryFolder({ "a.txt": "" });
  symlinkSync(dirname(folder), join(folder, "out"));
  symlinkSync(".", join(folder, "round"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  const { text } = await runTool(tool, folder, {});
  expect(text.split("\n")).toEqual([
    "3 files in the workspace (1 folder opened; 1 not regular files left out).",
    "a.txt",
    "out (symlink, not followed)",
    "round (symlink, not followed)",
  ]);
  expect(await runTool(tool, folder, { path: "out" })).toMatchObject({
    failed: true,
    text: expect.stringContaining("leads out of the workspace"),
  });
});

test("a file, a missing folder, a path outside and a wrong argument are failures with a remedy", async () => {
  const folder = temporaryFolder({ "a.txt": "" });
  for (const [input, sentence] of [
    [{ path: "a.txt" }, "is a file. Use read_file"],
    [{ path: "none" }, 'there is no "none"'],
    [{ path: "../.." }, "leads out of the workspace"],
    [{ path: "x\0" }, "NUL"],
    [{ depth: 0 }, "`depth` must be a whole number from 1 to 64"],
    [{ recursive: true }, "`recursive` is not an argument of this tool"],
    [{ glob: ["*"] }, "`glob` must be a text, and was an array"],
  ] as const) {
    const { text, failed } = await runTool(tool, folder, input);
    expect(failed).toBe(true);
    expect(text).toContain(sentence);
  }
});

test("a glob that is made to be slow is answered at once", async () => {
  const folder = temporaryFolder({ [`${"a".repeat(200)}.txt`]: "" });
  expect((await runTool(tool, folder, { glob: `${"*a".repeat(60)}b` })).text).toContain("0 files");
  expect((await runTool(tool, folder, { glob: `${"**/".repeat(60)}b` })).text).toContain("0 files");
  expect((await runTool(tool, folder, { glob: "{a,b}".repeat(60) })).text).toContain("0 files");
});

test("an aborted call says that it was stopped", async () => {
  expect((await runTool(tool, temporaryFolder(), {}, AbortSignal.abort())).failed).toBe(true);
});
