/** `errand trust`: what it stores, where, for which files, and for how long. */

import { mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { agentFile, definedProject, type DefinedProject, HOOKS } from "./support/defined-project.ts";
import { saidOf } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 120_000 });

const FILES = {
  ".claude/agents/fixer.md": agentFile("fixer", "You fix.", HOOKS),
  ".claude/agents/plain.md": agentFile("plain", "You look."),
  ".errand/skills/deploy/SKILL.md": "---\ndescription: d\nmcpServers: [files]\n---\nDeploy.",
};

async function states({ json }: DefinedProject): Promise<Record<string, unknown>> {
  const lines = (await json("agents")).filter(({ name }) => name === "fixer" || name === "deploy");
  return Object.fromEntries(lines.map(({ name, state }) => [String(name), state]));
}

const NOTHING = { fixer: "untrusted", deploy: "untrusted" };
const ALL = { fixer: "used", deploy: "used" };

test("it names what is trusted, applies to that folder only, and can be withdrawn", async () => {
  const project = definedProject(FILES);
  const { out, code } = await project.errand("trust");
  expect(out).toBe(
    `trusted as it is now: ${project.folder}\n  .claude/agents/fixer.md: hooks\n  .errand/skills/deploy/SKILL.md: MCP servers\n`,
  );
  expect(code).toBe(0);
  expect(await states(project)).toEqual(ALL);
  expect((await project.errand("trust", "--list")).out).toBe(
    `${project.folder}\n  .claude/agents/fixer.md\n  .errand/skills/deploy/SKILL.md\n`,
  );
  // A copy of the folder is another folder.
  const copy = join(dirname(project.folder), "copy");
  renameSync(project.folder, copy);
  symlinkSync(copy, project.folder);
  expect(await states(project)).toEqual(NOTHING);
  rmSync(project.folder);
  renameSync(copy, project.folder);
  expect(await states(project)).toEqual(ALL);
  expect((await project.errand("trust", "--revoke")).out).toBe(`no longer trusted: ${project.folder}\n`);
  expect(await states(project)).toEqual(NOTHING);
  expect(await project.errand("trust", "--list")).toMatchObject({ code: 0, out: "", err: "no folder is trusted\n" });
});

test("it is stored in a private file of the user's configuration folder, never in the project", async () => {
  const project = definedProject(FILES);
  const before = (await project.json("agents")).map(({ source }) => source);
  await project.errand("trust");
  const folder = join(project.home, ".config/errand");
  expect([statSync(folder).mode & 0o777, statSync(join(folder, "trust.json")).mode & 0o777]).toEqual([0o700, 0o600]);
  expect((await project.json("agents")).map(({ source }) => source)).toEqual(before);
  const elsewhere = { XDG_CONFIG_HOME: join(project.home, "elsewhere") };
  expect((await project.errandWith(elsewhere, "agents")).out).toContain(
    "fixer  .claude/agents/fixer.md  (needs trust)",
  );
  await project.errandWith(elsewhere, "trust");
  expect(readFileSync(join(project.home, "elsewhere/errand/trust.json"), "utf8")).toContain("fixer.md");
});

test("a new or changed file needs trust again; the others stay trusted", async () => {
  const project = definedProject(FILES);
  await project.errand("trust");
  project.write(".claude/agents/fixer.md", agentFile("fixer", "You fix, and more.", HOOKS));
  expect(await states(project)).toEqual({ fixer: "untrusted", deploy: "used" });
  project.write(".claude/agents/plain.md", agentFile("plain", "You look.", "mcp-servers: [x]\n"));
  expect((await project.errand("agents")).out).toContain("plain  .claude/agents/plain.md  (needs trust)");
  await project.errand("trust");
  expect(await states(project)).toEqual(ALL);
});

test("a folder is named by any path to it, even when it no longer exists", async () => {
  const project = definedProject(FILES);
  const link = join(dirname(project.folder), "link");
  symlinkSync(project.folder, link);
  const [trusted] = await project.json("trust", link);
  expect(trusted).toEqual({
    type: "trusted",
    folder: project.folder,
    items: [
      { name: ".claude/agents/fixer.md", hash: expect.stringMatching(/^[0-9a-f]{64}$/), for: ["hooks"] },
      { name: ".errand/skills/deploy/SKILL.md", hash: expect.stringMatching(/^[0-9a-f]{64}$/), for: ["MCP servers"] },
    ],
  });
  const other = definedProject();
  renameSync(project.folder, `${project.folder}-moved`);
  const { out } = await other.errandWith({ HOME: project.home }, "trust", "--revoke", project.folder);
  expect(out).toBe(`no longer trusted: ${project.folder}\n`);
});

test("an impossible request is refused in two lines and changes nothing", async () => {
  const project = definedProject({ "a.txt": "x" });
  expect((await project.errand("trust")).out).toBe(`nothing in ${project.folder} asks for trust\n`);
  expect((await project.errand("trust", "--revoke")).out).toBe(`nothing of ${project.folder} was trusted\n`);
  for (const args of [["nowhere"], ["a.txt"], ["--list", "--revoke"]]) {
    const { err, code } = await project.errand("trust", ...args);
    expect(saidOf(err)).toMatchObject({ code: "usage", lines: 2 });
    expect(code).toBe(2);
  }
  const path = join(project.home, ".config/errand/trust.json");
  mkdirSync(dirname(path), { recursive: true });
  for (const broken of ["{", "[]", '{"version":2}', '{"version":1}', '{"version":1,"folders":{"/x":{"a":7}}}']) {
    writeFileSync(path, broken);
    for (const args of [["trust"], ["trust", "--list"], ["agents"]]) {
      if (broken !== "{" && args[0] === "agents") continue;
      const { err, code } = await project.errand(...args);
      expect(saidOf(err), `${broken} ${args.join(" ")}`).toMatchObject({ code: "config-invalid", lines: 2 });
      expect(code).toBe(1);
    }
    expect(readFileSync(path, "utf8")).toBe(broken);
  }
});
