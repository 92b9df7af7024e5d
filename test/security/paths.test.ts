/** Path rules judge files, not strings: with the library and the real tools in a hostile folder. */

import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { PermissionRule } from "../../src/index.ts";
import { callIn, hostileFolder, SECRET } from "./support/hostile-folder.ts";

const DENY: PermissionRule = { decision: "deny", tool: "*", path: "private/**" };
const ALLOW_ALL: PermissionRule = { decision: "allow", tool: "*", path: "**" };

function withSecret(): string {
  return hostileFolder({ "private/key.txt": SECRET, "open/a.txt": "plain words", "open/b.txt": "more words" });
}

test("a denied file cannot be read by any of its names", async () => {
  const folder = withSecret();
  symlinkSync(join(folder, "private/key.txt"), join(folder, "open/absolute"));
  symlinkSync("../private/key.txt", join(folder, "open/relative"));
  symlinkSync("../private", join(folder, "open/folder"));
  symlinkSync("relative", join(folder, "open/chain"));
  for (const path of [
    "private/key.txt",
    "./private//key.txt",
    "open/../private/key.txt",
    `${folder}/private/key.txt`,
    "PRIVATE/key.txt",
    "private./key.txt",
    "open/absolute",
    "open/relative",
    "open/chain",
    "open/folder/key.txt",
  ]) {
    for (const call of [
      ["read_file", { path }],
      ["search_text", { query: "secret", path }],
      ["edit_file", { path, old_text: SECRET, new_text: "x" }],
      ["write_file", { path, content: "x" }],
    ] as const) {
      const { text, failed, asked } = await callIn(folder, [DENY, ALLOW_ALL], call);
      expect([path, call[0], asked, failed, text?.includes(SECRET)]).toEqual([path, call[0], false, true, false]);
    }
  }
  expect(readFileSync(join(folder, "private/key.txt"), "utf8")).toBe(SECRET);
});

test("a denied file is neither listed nor searched, whether the rule names all tools or only read_file", async () => {
  const folder = withSecret();
  for (const tool of ["*", "read_file"]) {
    for (const path of ["private/**", "private", "**/key.txt", "PRIVATE"]) {
      const rules: PermissionRule[] = [{ decision: "deny", tool, path }];
      const listed = await callIn(folder, rules, ["list_files", {}]);
      expect(listed.text).not.toContain("key.txt");
      expect(listed.text).toContain("open/a.txt");
      const found = await callIn(folder, rules, ["search_text", { query: "words" }]);
      expect(found.text).not.toContain(SECRET);
      expect(found.text).toContain("open/a.txt:1: plain words");
    }
  }
});

test("a walk leaves out files with an `ask` rule until the user has allowed their folder", async () => {
  const folder = withSecret();
  const rules: PermissionRule[] = [{ decision: "ask", tool: "search_text", path: "private/**" }];
  const whole = await callIn(folder, rules, ["search_text", { query: "words" }]);
  expect([whole.asked, whole.text?.includes(SECRET)]).toEqual([false, false]);
  expect(whole.text).toContain("1 left out that the rules ask about");
  const call = ["search_text", { query: "words", path: "private" }] as const;
  expect(await callIn(folder, rules, call)).toMatchObject({ asked: true, text: null });
  expect((await callIn(folder, rules, call, { answer: true })).text).toContain(SECRET);
  expect((await callIn(folder, rules, call, { answer: false })).text).not.toContain(SECRET);
});

test("an allow applies only if the path as written and the real path both match", async () => {
  const folder = withSecret();
  symlinkSync("../open", join(folder, "private/out"));
  symlinkSync("../private", join(folder, "open/in"));
  const rules: PermissionRule[] = [{ decision: "allow", tool: "write_file", path: "open/**" }];
  const write = (path: string) => callIn(folder, rules, ["write_file", { path, content: "new" }]);
  expect(await write("open/new.txt")).toMatchObject({ asked: false, failed: false });
  for (const path of ["open/in/key.txt", "open/in/new.txt", "private/out/a.txt", "open/in/x/y.txt"])
    expect(await write(path)).toMatchObject({ asked: true, text: null });
  expect(readFileSync(join(folder, "private/key.txt"), "utf8")).toBe(SECRET);
});

test("a file with a second hard link is asked about if any path is denied, and left out of searches", async () => {
  const folder = withSecret();
  linkSync(join(folder, "private/key.txt"), join(folder, "open/second.txt"));
  const read = ["read_file", { path: "open/second.txt" }] as const;
  expect(await callIn(folder, [DENY], read)).toMatchObject({ asked: true, text: null });
  expect((await callIn(folder, [DENY], read, { answer: true })).text).toContain(SECRET);
  expect((await callIn(folder, [], read)).text).toContain(SECRET);
  expect((await callIn(folder, undefined, read)).text).toContain(SECRET);
  expect((await callIn(folder, [DENY], ["search_text", { query: "words" }])).text).not.toContain(SECRET);
});

test("a file that was replaced while its question waited is not opened", async () => {
  for (const swap of [
    (folder: string) => {
      rmSync(join(folder, "open/a.txt"));
      symlinkSync("../private/key.txt", join(folder, "open/a.txt"));
    },
    (folder: string) => {
      renameSync(join(folder, "open"), join(folder, "away"));
      symlinkSync("private", join(folder, "open"));
      writeFileSync(join(folder, "private/a.txt"), SECRET);
    },
    (folder: string) => {
      rmSync(join(folder, "open/a.txt"));
      linkSync(join(folder, "private/key.txt"), join(folder, "open/a.txt"));
    },
  ]) {
    for (const deny of [[], [DENY]]) {
      const folder = withSecret();
      const rules: PermissionRule[] = [{ decision: "ask", tool: "read_file", path: "open/**" }, ...deny];
      const before = (): void => swap(folder);
      const { text, failed, asked } = await callIn(folder, rules, ["read_file", { path: "open/a.txt" }], {
        answer: true,
        before,
      });
      expect([asked, failed, text?.includes(SECRET)]).toEqual([true, true, false]);
    }
  }
});

test("pipes, devices, and folders with the same name prefix stay outside, whatever is allowed", async () => {
  const folder = withSecret();
  execFileSync("mkfifo", [join(folder, "open/pipe")]);
  symlinkSync("/dev/zero", join(folder, "open/zero"));
  mkdirSync(join(dirname(folder), "ws-other"));
  writeFileSync(join(dirname(folder), "ws-other/key.txt"), SECRET);
  symlinkSync("../../ws-other", join(folder, "open/sibling"));
  for (const path of ["open/pipe", "open/zero", "../ws-other/key.txt", "open/sibling/key.txt"]) {
    const { text, failed } = await callIn(folder, [ALLOW_ALL], ["read_file", { path }], { answer: true });
    expect([failed, text?.includes(SECRET)]).toEqual([true, false]);
  }
  const found = await callIn(folder, [DENY, ALLOW_ALL], ["search_text", { query: "words" }]);
  expect(found.text).not.toContain(SECRET);
});

test("a change of a file that Errand reads later is asked about by every name, unless a rule names exactly that file", async () => {
  const folder = hostileFolder({ "AGENTS.md": "old", ".claude/agents/a.md": "old", "docs/x.md": "x" });
  symlinkSync("../AGENTS.md", join(folder, "docs/notes.md"));
  symlinkSync("../.claude", join(folder, "docs/link"));
  const all: PermissionRule[] = [ALLOW_ALL, { decision: "allow", tool: "write_file" }];
  for (const path of [
    "AGENTS.md",
    "agents.md",
    "CLAUDE.md",
    "GEMINI.md",
    "docs/AGENTS.md",
    "docs/notes.md",
    "docs/link/agents/new.md",
    ".claude/skills/s/SKILL.md",
    ".codex/agents/a.toml",
    ".errand/agents/a.md",
    ".git/hooks/pre-commit",
  ]) {
    expect([path, await callIn(folder, all, ["write_file", { path, content: "new" }])]).toMatchObject([
      path,
      { asked: true, text: null },
    ]);
  }
  const exact: PermissionRule[] = [...all, { decision: "allow", tool: "write_file", path: "AGENTS.md" }];
  expect(await callIn(folder, exact, ["write_file", { path: "docs/notes.md", content: "new" }])).toMatchObject({
    asked: true,
  });
  expect(readFileSync(join(folder, "AGENTS.md"), "utf8")).toBe("old");
  expect(await callIn(folder, exact, ["write_file", { path: "AGENTS.md", content: "new" }])).toMatchObject({
    asked: false,
    failed: false,
  });
  expect(readFileSync(join(folder, "AGENTS.md"), "utf8")).toBe("new");
});
