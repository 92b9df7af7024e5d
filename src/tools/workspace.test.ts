import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { rename, symlink, unlink } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { temporaryFolder } from "./tool-run.test-support.ts";
import { escapedPath, openWorkspace, pathIsInside, type Workspace } from "./workspace.ts";

async function opened(folder: string): Promise<Workspace> {
  const workspace = await openWorkspace(folder);
  if ("refused" in workspace) throw new Error(workspace.refused);
  return workspace;
}

async function refusalOf(workspace: Workspace, path: string): Promise<string> {
  const file = await workspace.openFile(path);
  if (!("refused" in file)) await file.handle.close();
  return "refused" in file ? file.refused : "";
}

test("a file is opened by its relative path, its absolute path and a path with `..`", async () => {
  const folder = temporaryFolder({ "src/a.txt": "a" });
  const workspace = await opened(folder);
  for (const path of ["src/a.txt", join(folder, "src/a.txt"), "src/../src/./a.txt"]) {
    const file = await workspace.openFile(path);
    if ("refused" in file) throw new Error(file.refused);
    expect(file).toMatchObject({ relative: "src/a.txt", size: 1 });
    await file.handle.close();
  }
});

test("paths that lead out are refused, whether they exist or not", async () => {
  const workspace = await opened(temporaryFolder());
  for (const path of ["..", "../..", "../../../../../../etc/passwd", "/etc/passwd", "/nowhere/at/all"]) {
    expect(await refusalOf(workspace, path)).toContain("leads out of the workspace");
  }
});

test("a folder beside the workspace with the same beginning of its name is outside", async () => {
  const folder = temporaryFolder();
  mkdirSync(`${folder}-other`);
  writeFileSync(`${folder}-other/secret.txt`, "secret");
  const workspace = await opened(folder);
  expect(await refusalOf(workspace, `${folder}-other/secret.txt`)).toContain("leads out of the workspace");
  expect(await refusalOf(workspace, "../ws-other/secret.txt")).toContain("leads out of the workspace");
  expect(pathIsInside("/ws", "/ws-other")).toBe(false);
  expect(pathIsInside("/ws", "/ws/a")).toBe(true);
  expect(pathIsInside("/", "/a")).toBe(true);
});

test("a symlink that leads out is refused, also as a folder or a chain; others are followed", async () => {
  const folder = temporaryFolder({ "real.txt": "inside" });
  const secret = join(dirname(folder), "secret.txt");
  writeFileSync(secret, "secret");
  symlinkSync(secret, join(folder, "file-link"));
  symlinkSync(dirname(folder), join(folder, "folder-link"));
  symlinkSync("file-link", join(folder, "chain"));
  symlinkSync("real.txt", join(folder, "good"));
  const workspace = await opened(folder);
  for (const path of ["file-link", "folder-link/secret.txt", "chain"]) {
    expect(await refusalOf(workspace, path)).toContain("leads out of the workspace");
  }
  expect(await workspace.locate("folder-link")).toHaveProperty("refused");
  expect(await workspace.locate("good")).toMatchObject({ relative: "real.txt", kind: "file" });
});

test("a workspace can be reached through a symlink", async () => {
  const folder = temporaryFolder({ "a.txt": "a" });
  symlinkSync(folder, `${folder}-link`);
  const workspace = await opened(`${folder}-link`);
  expect(await workspace.locate("a.txt")).toMatchObject({ relative: "a.txt" });
  expect(await workspace.locate(join(folder, "a.txt"))).toMatchObject({ relative: "a.txt" });
});

test("a pipe without a writer is refused at once instead of hanging", async () => {
  const folder = temporaryFolder();
  execFileSync("mkfifo", [join(folder, "pipe")]);
  expect(await refusalOf(await opened(folder), "pipe")).toContain("a pipe, not a regular file");
});

test("a socket is refused", async () => {
  const folder = temporaryFolder();
  const server = createServer();
  await new Promise<void>((done) => server.listen(join(folder, "socket"), done));
  onTestFinished(() => void server.close());
  expect(await refusalOf(await opened(folder), "socket")).toContain("a socket, not a regular file");
});

test("a device is refused, also when it is inside the workspace", async () => {
  expect(await refusalOf(await opened("/dev"), "zero")).toContain("a device, not a regular file");
});

test("each kind of wrong path has its own sentence", async () => {
  const folder = temporaryFolder({ "src/a.txt": "a" });
  symlinkSync("loop", join(folder, "loop"));
  const workspace = await opened(folder);
  expect(await refusalOf(workspace, "a\0b")).toContain("NUL");
  expect(await refusalOf(workspace, "")).toContain("empty");
  expect(await refusalOf(workspace, "a/".repeat(4000))).toContain("longer than 4096");
  expect(await refusalOf(workspace, "x".repeat(3000))).toContain("cannot be opened (ENAMETOOLONG)");
  expect(await refusalOf(workspace, "missing.txt")).toContain('there is no "missing.txt"');
  expect(await refusalOf(workspace, "src/a.txt/b")).toContain("there is no");
  expect(await refusalOf(workspace, "loop")).toContain("symlink that leads nowhere");
  expect(await refusalOf(workspace, "src")).toContain("is a folder. Use list_files");
});

test("Errand's own records cannot be read, directly or through a symlink", async () => {
  const folder = temporaryFolder({ ".errand/store.db": "journal" });
  symlinkSync(".errand", join(folder, "link"));
  const workspace = await opened(folder);
  expect(await refusalOf(workspace, ".errand/store.db")).toContain("own records");
  expect(await refusalOf(workspace, "link/store.db")).toContain("own records");
});

test("a workspace that does not exist is a refusal, not an exception", async () => {
  expect(await openWorkspace("/nowhere/at/all")).toHaveProperty("refused");
});

test("a line break in a file's name cannot forge a line", () => {
  expect(escapedPath("a\nb\u001b[31m")).toBe("a\\u000ab\\u001b[31m");
});

test("swapping a folder for a symlink during an opening never gives a file from outside", async () => {
  const folder = temporaryFolder({ "real/x.txt": "inside" });
  const outside = join(dirname(folder), "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "x.txt"), "secret");
  const workspace = await opened(folder);
  const contents = new Set<string>();
  let running = true;
  async function swap(): Promise<void> {
    while (running) {
      await symlink(outside, join(folder, "next"));
      await rename(join(folder, "real"), join(folder, "moved"));
      await rename(join(folder, "next"), join(folder, "real"));
      await rename(join(folder, "real"), join(folder, "gone"));
      await rename(join(folder, "moved"), join(folder, "real"));
      await unlink(join(folder, "gone"));
    }
  }
  const swapping = swap();
  for (let attempt = 0; attempt < 1500; attempt++) {
    const file = await workspace.openFile("real/x.txt");
    if ("refused" in file) continue;
    contents.add(await file.handle.readFile("utf8"));
    await file.handle.close();
  }
  running = false;
  await swapping;
  expect(contents.has("secret")).toBe(false);
});
