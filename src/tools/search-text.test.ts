import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { createSearchTextTool } from "./search-text.ts";
import { runTool, temporaryFolder } from "./tool-run.test-support.ts";

const tool = createSearchTextTool();

test("matching lines are found in any case, in order, and all are counted", async () => {
  const folder = temporaryFolder({
    "b.ts": "x\n  const Server = 1;\nserver()",
    "a.ts": "no\nSERVER",
    "c.md": "nothing",
  });
  expect((await runTool(tool, folder, { query: "server" })).text).toBe(
    "3 matching lines in 2 of 3 searched files.\na.ts:2: SERVER\nb.ts:2: const Server = 1;\nb.ts:3: server()",
  );
  expect((await runTool(tool, folder, { query: "SERVER" })).text).toContain("3 matching lines in 2 of");
  expect((await runTool(tool, folder, { query: "server", case_sensitive: true })).text).toContain(
    "1 matching lines in 1 of",
  );
});

test("characters of regular expressions have no meaning in plain text", async () => {
  const folder = temporaryFolder({ "a.ts": "a.*b\naxxb\nf(x)[0]" });
  expect((await runTool(tool, folder, { query: "a.*b" })).text).toContain("1 matching lines");
  expect((await runTool(tool, folder, { query: "f(x)[" })).text).toContain("a.ts:3: f(x)[0]");
  expect((await runTool(tool, folder, { query: "A.*B", regex: true })).text).toContain("2 matching lines");
});

test("one file cannot crowd out others, and lines that are not shown are counted", async () => {
  const folder = temporaryFolder({ "a.txt": "hit\n".repeat(50), "b.txt": "hit\n" });
  const { text } = await runTool(tool, folder, { query: "hit", per_file: 2 });
  expect(text.split("\n")).toEqual([
    "51 matching lines in 2 of 2 searched files.",
    "[truncated: 3 shown; narrow with path, glob or a longer query, or raise limit or per_file]",
    "a.txt:1: hit",
    "a.txt:2: hit",
    "a.txt: 48 more lines in this file",
    "b.txt:1: hit",
  ]);
  expect((await runTool(tool, folder, { query: "hit", limit: 1 })).text).toContain("[truncated: 1 shown");
});

test("an answer is never longer than 64 KiB", async () => {
  const folder = temporaryFolder({ "a.txt": `hit ${"x".repeat(300)}\n`.repeat(1000) });
  const { text } = await runTool(tool, folder, { query: "hit", limit: 1000, per_file: 1000 });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * 1024);
  expect(text).toContain("1000 matching lines");
});

test("a path and a glob narrow the search", async () => {
  const folder = temporaryFolder({ "src/a.ts": "hit", "src/b.md": "hit", "c.ts": "hit" });
  expect((await runTool(tool, folder, { query: "hit", path: "src", glob: "*.ts" })).text).toContain(
    "1 matching lines in 1 of 1 searched files.\nsrc/a.ts:1: hit",
  );
  expect((await runTool(tool, folder, { query: "hit", path: "c.ts" })).text).toContain("c.ts:1: hit");
});

test("a regular expression that backtracks without end is stopped and refused", async () => {
  const folder = temporaryFolder({ "a.txt": `${"a".repeat(40)}b` });
  for (const query of ["(a+)+$", "(a|a)*$", "(a|aa)+$"]) {
    const { text, failed } = await runTool(tool, folder, { query, regex: true });
    expect(failed).toBe(true);
    expect(text).toContain("takes too long, or grows too large, as a regular expression");
  }
});

test("wrong queries and arguments are failures with a remedy", async () => {
  const folder = temporaryFolder({ "a.txt": "" });
  for (const [input, sentence] of [
    [{ query: "(", regex: true }, "`query` is not a valid regular expression"],
    [{ query: "a\nb" }, "`query` holds a line break"],
    [{ query: "" }, "`query` is missing or empty"],
    [{ query: "a", path: "../.." }, "leads out of the workspace"],
    [{ query: "a", regex: "yes" }, "`regex` must be true or false"],
    [{ query: "a", include: "*.ts" }, "`include` is not an argument of this tool"],
  ] as const) {
    const { text, failed } = await runTool(tool, folder, input);
    expect(failed).toBe(true);
    expect(text).toContain(sentence);
  }
});

test("binary files, pipes and symlinks are skipped, files with bytes that are not UTF-8 are searched", async () => {
  const folder = temporaryFolder({
    bin: new Uint8Array([104, 105, 116, 0]),
    "latin.txt": new Uint8Array([0xe9, 0x20, 104, 105, 116]),
  });
  execFileSync("mkfifo", [join(folder, "pipe")]);
  writeFileSync(join(dirname(folder), "secret.txt"), "hit");
  symlinkSync(join(dirname(folder), "secret.txt"), join(folder, "link"));
  expect((await runTool(tool, folder, { query: "hit" })).text).toBe(
    "1 matching lines in 1 of 1 searched files.\nlatin.txt:1: \uFFFD hit",
  );
});

test("the part of a long line around the match is shown", async () => {
  const folder = temporaryFolder({ "a.js": `${"x".repeat(1000)} needle ${"y".repeat(1000)}` });
  const { text } = await runTool(tool, folder, { query: "needle" });
  expect(text).toMatch(/a\.js:1: …x+ needle y+…$/);
  expect(text.length).toBeLessThan(400);
});

test("an aborted search stops between files", async () => {
  const files: Record<string, string> = {};
  for (let index = 0; index < 300; index++) files[`f${index}.txt`] = "hit";
  const folder = temporaryFolder(files);
  const controller = new AbortController();
  const search = runTool(tool, folder, { query: "hit" }, controller.signal);
  controller.abort();
  expect(await search).toMatchObject({ failed: true, text: expect.stringContaining("stopped") });
});

test("two searches of the same folder give the same bytes", async () => {
  const folder = temporaryFolder({ "z/a.txt": "hit", "a/z.txt": "hit", "a.txt": "hit" });
  const [first, second] = [
    await runTool(tool, folder, { query: "hit" }),
    await runTool(tool, folder, { query: "hit" }),
  ];
  expect(first).toEqual(second);
});
