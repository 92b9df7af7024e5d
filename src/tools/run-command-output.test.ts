/** What is shown and what is saved of a command's output. */

import { mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createReadFileTool } from "./read-file.ts";
import { createRunCommandTool } from "./run-command.ts";
import { runTool, temporaryFolder, world } from "./tool-run.test-support.ts";

// These tests start many processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 40_000 });

const NODE = process.execPath;
const tool = createRunCommandTool({ world, environment: process.env });

test("of a long output line the beginning and the end are shown, cut between characters", async () => {
  const folder = temporaryFolder();
  const script = "for (let i = 0; i < 200; i++) process.stdout.write('é'.repeat(1000)); process.stdout.write('END')";
  const { text, failed } = await runTool(tool, folder, { argv: [NODE, "-e", script] });
  expect(failed).toBe(false);
  expect(text).toContain("stdout (400003 bytes):\né");
  expect(text).toMatch(/\[… 3590\d\d of 400003 bytes left out here …\]/);
  expect(text).toMatch(/éEND\n\(the whole, 400003 bytes, is in \S+; read_file can look into it\)$/);
  expect(text).not.toContain("\uFFFD");
});

test("a long output is saved in a private file that read_file reads, and the oldest files are removed", async () => {
  const folder = temporaryFolder();
  const argv = ["seq", "-f", "line %.0f", "20000"];
  for (let times = 0; times < 22; times += 1) {
    const { text } = await runTool(tool, folder, { argv });
    const [, path = ""] = /is in (\S+); read_file/.exec(text) ?? [];
    expect(path).toMatch(/^\.errand\/output\/\d+-[0-9a-f]{8}-stdout\.txt$/);
    if (times > 0) continue;
    expect(statSync(join(folder, path)).mode & 0o777).toBe(0o600);
    const read = await runTool(createReadFileTool(), folder, { path, offset: 9_999, limit: 2 });
    expect(read.text).toMatch(/9999.*line 9999\n.*10000.*line 10000/);
  }
  expect(readdirSync(join(folder, ".errand", "output"))).toHaveLength(20);
  const small = await runTool(tool, folder, { argv: ["echo", "hello"] });
  expect(small.text).not.toContain("the whole");
});

test("an output is not saved through a symlink, and the answer says so", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "..", "elsewhere"));
  symlinkSync(join(folder, "..", "elsewhere"), join(folder, ".errand"));
  const { text, failed } = await runTool(tool, folder, { argv: ["seq", "20000"] });
  expect(failed).toBe(false);
  expect(text).toContain("(the whole could not be kept: ENOTDIR)");
  expect(readdirSync(join(folder, "..", "elsewhere"))).toEqual([]);
});

test("bytes that are not UTF-8 do not make the answer too long", async () => {
  const folder = temporaryFolder();
  const script = "process.stdout.write(Buffer.alloc(300000, 0xff))";
  const { text } = await runTool(tool, folder, { argv: [NODE, "-e", script] });
  expect(Buffer.byteLength(text)).toBeLessThan(60 * 1024);
  expect(text).toContain("some not UTF-8 and shown as ?");
});
