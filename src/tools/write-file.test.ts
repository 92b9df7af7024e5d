import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdir, rename, rm, symlink, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { runTool, temporaryFolder, world } from "./tool-run.test-support.ts";
import { CONTENT_BYTES, createWriteFileTool } from "./write-file.ts";

const tool = createWriteFileTool(world);

test("a new file is written with missing folders, and no temporary file stays", async () => {
  const folder = temporaryFolder();
  expect(await runTool(tool, folder, { path: "a/b/c.txt", content: "héllo\n" })).toEqual({
    text: 'Wrote 7 bytes to "a/b/c.txt": a new file.',
    failed: false,
  });
  expect(readFileSync(join(folder, "a/b/c.txt"), "utf8")).toBe("héllo\n");
  expect(readdirSync(join(folder, "a/b"))).toEqual(["c.txt"]);
});

test("an old file is replaced by a new one with the same mode", async () => {
  const folder = temporaryFolder({ "run.sh": "old content" });
  chmodSync(join(folder, "run.sh"), 0o750);
  const before = statSync(join(folder, "run.sh"));
  expect((await runTool(tool, folder, { path: "run.sh", content: "new" })).text).toBe(
    'Wrote 3 bytes to "run.sh": in the place of 11 bytes.',
  );
  const after = statSync(join(folder, "run.sh"));
  expect(after.mode).toBe(before.mode);
  expect(after.ino).not.toBe(before.ino);
  expect(readFileSync(join(folder, "run.sh"), "utf8")).toBe("new");
});

test("no path writes outside the workspace", async () => {
  const folder = temporaryFolder();
  const outside = join(dirname(folder), "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "there.txt"), "kept");
  mkdirSync(`${folder}-other`);
  symlinkSync(outside, join(folder, "folder-link"));
  symlinkSync(join(outside, "there.txt"), join(folder, "file-link"));
  symlinkSync(join(outside, "not-there.txt"), join(folder, "dangling"));
  const paths = [
    "../outside/x.txt",
    "../ws-other/x.txt",
    join(outside, "x.txt"),
    "folder-link/x.txt",
    "folder-link/deep/er/x.txt",
    "folder-link/there.txt",
    "file-link",
    "dangling",
    "a/../../outside/x.txt",
  ];
  for (const path of paths) {
    const { text, failed } = await runTool(tool, folder, { path, content: "x" });
    expect([path, failed, /leads out of the workspace|there is no/.test(text)]).toEqual([path, true, true]);
  }
  expect(readdirSync(outside)).toEqual(["there.txt"]);
  expect(readFileSync(join(outside, "there.txt"), "utf8")).toBe("kept");
  expect(readdirSync(`${folder}-other`)).toEqual([]);
});

test("a symlink that stays inside leads to its file, and stays a symlink", async () => {
  const folder = temporaryFolder({ "real/a.txt": "old" });
  symlinkSync("real/a.txt", join(folder, "link"));
  symlinkSync("real", join(folder, "folder"));
  await runTool(tool, folder, { path: "link", content: "new" });
  expect((await runTool(tool, folder, { path: "folder/b.txt", content: "b" })).text).toContain('"real/b.txt"');
  expect(readFileSync(join(folder, "real/a.txt"), "utf8")).toBe("new");
  expect(readdirSync(join(folder, "real")).toSorted()).toEqual(["a.txt", "b.txt"]);
});

test("files that are not regular, are protected, or belong to Errand or git are not written", async () => {
  const folder = temporaryFolder({ "plain.txt": "x", ".git/config": "[core]", ".errand/errand.db": "db" });
  execFileSync("mkfifo", [join(folder, "pipe")]);
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, "protected.txt"), "x");
  chmodSync(join(folder, "protected.txt"), 0o444);
  const cases = [
    ["pipe", "a pipe, not a regular file"],
    ["sub", "is a folder"],
    ["sub/", "folder"],
    ["new/", "names a folder"],
    ["plain.txt/x", "is a file, not a folder"],
    ["protected.txt", "write-protected"],
    [".git/hooks/pre-commit", "is in .git"],
    ["vendor/.git/config", "is in .git"],
    [".errand/agents/evil.md", "Errand"],
    ["n".repeat(201), "longer than 200 bytes"],
    ["a\0b", "NUL"],
    [".", "is a folder"],
  ] as const;
  for (const [path, sentence] of cases) {
    const { text, failed } = await runTool(tool, folder, { path, content: "evil" });
    expect([path, failed, text]).toEqual([path, true, expect.stringContaining(sentence)]);
  }
  expect(existsSync(join(folder, ".git/hooks"))).toBe(false);
  expect(existsSync(join(folder, ".errand/agents"))).toBe(false);
});

test("wrong arguments and too long contents are failures that say what to write", async () => {
  const folder = temporaryFolder();
  const cases = [
    [{ path: "a" }, "`content` is missing"],
    [{ path: "a", content: 7 }, "`content` must be a text"],
    [{ content: "a" }, "`path` is missing"],
    [{ path: "a", content: "x".repeat(CONTENT_BYTES + 1) }, `at most ${CONTENT_BYTES}`],
    [{ path: "a", content: "\ud800" }, "half a character"],
    [{ path: "a", content: "x", mode: 1 }, "is not an argument"],
  ] as const;
  for (const [input, sentence] of cases) {
    expect(await runTool(tool, folder, input)).toMatchObject({ failed: true, text: expect.stringContaining(sentence) });
  }
  expect(readdirSync(folder)).toEqual([]);
  expect((await runTool(tool, folder, { path: "empty", content: "" })).failed).toBe(false);
});

test("an aborted call writes nothing", async () => {
  const folder = temporaryFolder({ "a.txt": "old" });
  const { text } = await runTool(tool, folder, { path: "a.txt", content: "new" }, AbortSignal.abort());
  expect(text).toContain("stopped");
  expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("old");
});

test("swapping a folder for a symlink during a write never writes outside", async () => {
  const folder = temporaryFolder({ "real/x.txt": "inside" });
  const outside = join(dirname(folder), "outside");
  mkdirSync(outside);
  let running = true;
  let swaps = 0;
  /** Restores the folder if the tool made it between two steps. */
  async function swap(): Promise<void> {
    while (running) {
      try {
        await symlink(outside, join(folder, "next"));
        await rename(join(folder, "real"), join(folder, "moved"));
        await rename(join(folder, "next"), join(folder, "real"));
        await rename(join(folder, "real"), join(folder, "gone"));
        await rename(join(folder, "moved"), join(folder, "real"));
        await unlink(join(folder, "gone"));
        swaps++;
      } catch {
        for (const name of ["next", "moved", "gone", "real"]) {
          await rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
        }
        await mkdir(join(folder, "real")).catch(() => {});
      }
    }
  }
  const swapping = swap();
  let written = 0;
  for (let attempt = 0; attempt < 400; attempt++) {
    const { failed } = await runTool(tool, folder, { path: "real/new.txt", content: String(attempt) });
    if (!failed) written++;
  }
  running = false;
  await swapping;
  expect(readdirSync(outside)).toEqual([]);
  expect(written).toBeGreaterThan(0);
  expect(swaps).toBeGreaterThan(10);
}, 30_000);
