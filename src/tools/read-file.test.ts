import { closeSync, ftruncateSync, openSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createReadFileTool } from "./read-file.ts";
import { runTool, temporaryFolder } from "./tool-run.test-support.ts";

const tool = createReadFileTool();

test("a small file is shown whole, with line numbers", async () => {
  const folder = temporaryFolder({ "a.txt": "one\r\ntwo\n\nfour" });
  expect(await runTool(tool, folder, { path: "a.txt" })).toEqual({
    text: "1\tone\n2\ttwo\n3\t\n4\tfour",
    failed: false,
  });
});

test("a range says which lines it shows and where to read on, and the last one says that it is the end", async () => {
  const folder = temporaryFolder({
    "a.txt": Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`).join(""),
  });
  const first = await runTool(tool, folder, { path: "a.txt", limit: 2 });
  expect(first.text).toBe(
    "1\tline 1\n2\tline 2\n[truncated: lines 1-2 of 100 lines, 792 bytes in all; read on with offset 3]",
  );
  const last = await runTool(tool, folder, { path: "a.txt", offset: 99, limit: 10 });
  expect(last.text).toBe("99\tline 99\n100\tline 100\n[lines 99-100 of 100 lines: the end of the file]");
  const past = await runTool(tool, folder, { path: "a.txt", offset: 101 });
  expect(past).toEqual({
    text: 'Error: `offset` 101 is past the end: "a.txt" has 100 lines. Give an offset from 1 to 100.',
    failed: true,
  });
});

test("no answer is longer than 64 KiB, and reading on from each offset gives every line once", async () => {
  const lines = Array.from({ length: 3000 }, (_, index) => `${index + 1} ${"x".repeat(90)}`);
  const folder = temporaryFolder({ "a.txt": lines.join("\n") });
  const seen: string[] = [];
  let offset = 1;
  for (;;) {
    const { text } = await runTool(tool, folder, { path: "a.txt", offset, limit: 10_000 });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * 1024);
    seen.push(...text.split("\n").flatMap((line) => /^\d+\t(.*)$/.exec(line)?.[1] ?? []));
    const next = /read on with offset (\d+)/.exec(text);
    if (next === null) break;
    offset = Number(next[1]);
  }
  expect(seen).toEqual(lines);
});

test("a range of a file of ten gigabytes takes little memory", async () => {
  const folder = temporaryFolder({ "big.log": "a line of text\n".repeat(100_000) });
  truncateSync(join(folder, "big.log"), 10 * 1024 ** 3);
  const before = process.memoryUsage().arrayBuffers;
  const { text, failed } = await runTool(tool, folder, { path: "big.log", limit: 3 });
  expect(failed).toBe(false);
  expect(text.split("\n")).toEqual([
    "1\ta line of text",
    "2\ta line of text",
    "3\ta line of text",
    "[truncated: lines 1-3 of more than 100001 lines, 10737418240 bytes in all; read on with offset 4]",
  ]);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
});

test("a long line is cut between characters, and its length is shown", async () => {
  const folder = temporaryFolder({ "line.txt": `a${"é".repeat(500_001)}\nnext` });
  const { text } = await runTool(tool, folder, { path: "line.txt" });
  expect(text).toContain("[line truncated: its first 16383 of 1000003 bytes]\n2\tnext");
  expect(text).not.toContain("\uFFFD");
});

test("a line of a gigabyte takes little memory", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "endless");
  writeFileSync(path, "x".repeat(200_000));
  const descriptor = openSync(path, "r+");
  ftruncateSync(descriptor, 1024 ** 3);
  closeSync(descriptor);
  const { text } = await runTool(tool, folder, { path: "endless" });
  // The zeros after the text make it a binary file.
  expect(text).toContain("binary file of 1073741824 bytes");
});

test("a binary file is refused with a sentence", async () => {
  const folder = temporaryFolder({ "image.png": new Uint8Array([0x89, 0x50, 0, 1, 2, 3]) });
  expect(await runTool(tool, folder, { path: "image.png" })).toMatchObject({
    failed: true,
    text: expect.stringContaining("is a binary file of 6 bytes"),
  });
});

test("bytes that are not UTF-8 are replaced, with a note", async () => {
  const folder = temporaryFolder({ "latin.txt": new Uint8Array([0x63, 0x61, 0x66, 0xe9, 10, 0x6f, 0x6b]) });
  const { text, failed } = await runTool(tool, folder, { path: "latin.txt" });
  expect(failed).toBe(false);
  expect(text).toBe("1\tcaf\uFFFD\n2\tok\n[some bytes are not UTF-8 and are shown as \uFFFD]");
});

test("a byte order mark is not shown, and an empty file is called empty", async () => {
  const folder = temporaryFolder({ "bom.txt": "\uFEFFtext", "empty.txt": "" });
  expect((await runTool(tool, folder, { path: "bom.txt" })).text).toBe("1\ttext");
  expect((await runTool(tool, folder, { path: "empty.txt" })).text).toBe("(the file is empty)");
});

test("wrong arguments are failures that name the field and the remedy", async () => {
  const folder = temporaryFolder({ "a.txt": "a" });
  const cases: readonly (readonly [Parameters<typeof tool.run>[0], string])[] = [
    ['{"path": "a.txt"', "must be a JSON object, and were a text"],
    [null, "must be a JSON object, and were null"],
    [[], "must be a JSON object, and were an array"],
    [{}, "`path` is missing or empty. Write for example"],
    [{ path: "" }, "`path` is missing or empty"],
    [{ path: 7 }, "`path` must be a text, and was 7"],
    [{ path: "a.txt", offset: 0 }, "`offset` must be a whole number from 1"],
    [
      { path: "a.txt", offset: "1" },
      '`offset` must be a whole number from 1 to 1000000000, and was the text "1". Write for example 1.',
    ],
    [{ path: "a.txt", limit: 1.5 }, "`limit` must be a whole number"],
    [
      { path: "a.txt", lines: 3 },
      "`lines` is not an argument of this tool. Leave it out; the arguments are `path`, `offset`, `limit`.",
    ],
    [{ path: "../../etc/passwd" }, "leads out of the workspace"],
    [{ path: "a\0.txt" }, "NUL"],
  ];
  for (const [input, sentence] of cases) {
    const { text, failed } = await runTool(tool, folder, input);
    expect(failed).toBe(true);
    expect(text).toContain(sentence);
  }
  expect((await runTool(tool, folder, { path: "a.txt", offset: null })).failed).toBe(false);
});

test("an aborted call says that it was stopped", async () => {
  const folder = temporaryFolder({ "a.txt": "a" });
  expect(await runTool(tool, folder, { path: "a.txt" }, AbortSignal.abort())).toMatchObject({
    failed: true,
    text: expect.stringContaining("stopped"),
  });
});
