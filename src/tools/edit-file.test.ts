import { readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createEditFileTool } from "./edit-file.ts";
import { runTool, temporaryFolder, world } from "./tool-run.test-support.ts";

const tool = createEditFileTool(world);

test("text that occurs once is replaced, and everything else stays byte for byte", async () => {
  const folder = temporaryFolder({ "a.ts": "\uFEFFone\ntwo $& two\r\nthree" });
  const { text, failed } = await runTool(tool, folder, { path: "a.ts", old_text: "two $& two", new_text: "$1 $$ $`" });
  expect([text, failed]).toEqual(['Replaced 1 occurrence in "a.ts", line 2.', false]);
  expect(readFileSync(join(folder, "a.ts"), "utf8")).toBe("\uFEFFone\n$1 $$ $`\r\nthree");
});

test("text that occurs several times needs more around it, or replace_all", async () => {
  const folder = temporaryFolder({ "a.txt": "x\ny\nx\nx" });
  const refused = await runTool(tool, folder, { path: "a.txt", old_text: "x", new_text: "z" });
  expect(refused.text).toContain('occurs 3 times in "a.txt", lines 1, 3, 4. Add what surrounds');
  expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("x\ny\nx\nx");
  const all = await runTool(tool, folder, { path: "a.txt", old_text: "x", new_text: "", replace_all: true });
  expect(all.text).toBe('Replaced 3 occurrences in "a.txt", lines 1, 3, 4.');
  expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("\ny\n\n");
});

test("overlapping occurrences each count", async () => {
  const folder = temporaryFolder({ "a.txt": "aaa" });
  const { text } = await runTool(tool, folder, { path: "a.txt", old_text: "aa", new_text: "b" });
  expect(text).toContain("occurs 2 times");
});

test("in a file with CRLF line breaks, LF means CRLF", async () => {
  const folder = temporaryFolder({ "a.txt": "one\r\ntwo\r\nthree\r\n" });
  await runTool(tool, folder, { path: "a.txt", old_text: "one\ntwo", new_text: "1\n2" });
  await runTool(tool, folder, { path: "a.txt", old_text: "three", new_text: "3\n4" });
  expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("1\r\n2\r\n3\r\n4\r\n");
});

test("in a file without line breaks, LF stays LF", async () => {
  const folder = temporaryFolder({ "a.txt": "one" });
  await runTool(tool, folder, { path: "a.txt", old_text: "one", new_text: "1\n2" });
  expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("1\n2");
});

test("what cannot be edited safely is refused and stays as it is", async () => {
  const latin = new Uint8Array([0x63, 0xe9, 10]);
  const folder = temporaryFolder({
    "latin.txt": latin,
    "binary.bin": new Uint8Array([99, 0, 99, 1]),
    "big.txt": "c".repeat(2 * 1024 * 1024 + 1),
    "a.txt": "c",
  });
  writeFileSync(join(dirname(folder), "secret.txt"), "c");
  symlinkSync("../secret.txt", join(folder, "link"));
  const cases = [
    ["latin.txt", "c", "not UTF-8"],
    ["binary.bin", "c", "binary"],
    ["big.txt", "c", "can be edited"],
    ["link", "c", "leads out of the workspace"],
    ["missing.txt", "c", "there is no"],
    ["a.txt", "z", "does not occur"],
    ["a.txt", "", "`old_text` is empty"],
    ["a.txt", "d", "are the same"],
    ["a.txt", "c".repeat(100_001), "at most 100000"],
  ] as const;
  for (const [path, old, sentence] of cases) {
    const answer = await runTool(tool, folder, { path, old_text: old, new_text: "d" });
    expect([path, answer.failed, answer.text]).toEqual([path, true, expect.stringContaining(sentence)]);
  }
  expect(new Uint8Array(readFileSync(join(folder, "latin.txt")))).toEqual(latin);
  expect(readFileSync(join(dirname(folder), "secret.txt"), "utf8")).toBe("c");
});

test("a file that changed after it was read is not overwritten", async () => {
  const folder = temporaryFolder({ "a.txt": "one" });
  const path = join(folder, "a.txt");
  const late = createEditFileTool({
    random(digits) {
      writeFileSync(path, "one, changed meanwhile");
      return "0".repeat(digits);
    },
  });
  const { text } = await runTool(late, folder, { path: "a.txt", old_text: "one", new_text: "two" });
  expect(text).toContain("was changed while it was being edited");
  expect(readFileSync(path, "utf8")).toBe("one, changed meanwhile");
  expect(statSync(path).isFile()).toBe(true);
});
