/** The command line does not put denied files into a context: AGENTS.md, skills and agents. */

import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readDefinitions } from "../../src/definitions/read-definitions.ts";
import { projectFolder, runErrand } from "../cli/support/errand-process.ts";
import { hostileFolder, SECRET } from "./support/hostile-folder.ts";

const SKILL = `---\nname: helpful\ndescription: ${SECRET}\n---\n${SECRET}`;

test("a denied AGENTS.md, skill or agent is left out, by its name and by its real path", async () => {
  const folder = hostileFolder({
    "private/notes.md": SECRET,
    "private/skill.md": SKILL,
    ".claude/agents/a.md": `---\nname: a\ndescription: ${SECRET}\n---\n${SECRET}`,
  });
  mkdirSync(join(folder, ".claude/skills/helpful"), { recursive: true });
  symlinkSync("private/notes.md", join(folder, "AGENTS.md"));
  linkSync(join(folder, "private/skill.md"), join(folder, ".claude/skills/helpful/SKILL.md"));
  const open = await readDefinitions({ folder });
  expect([open.context?.text, open.skills.length, open.definitions.length]).toEqual([SECRET, 1, 1]);
  for (const tool of ["*", "read_file"]) {
    const denied = await readDefinitions({
      folder,
      permissions: [
        { decision: "deny", tool, path: "private/**" },
        { decision: "deny", tool, path: ".claude/agents" },
      ],
    });
    expect([denied.context, denied.skills, denied.definitions]).toEqual([null, [], []]);
    expect(denied.sources.flatMap(({ warnings }) => warnings.map(({ text }) => text))).toEqual([
      "it was left out: the rules deny reading it",
      "it was left out: it has more than one name, and rules deny some paths",
      "it was left out: the rules deny reading it",
    ]);
  }
});

test("errand agents shows that a denied AGENTS.md is not used", async () => {
  const project = projectFolder();
  try {
    writeFileSync(join(project.folder, "AGENTS.md"), SECRET);
    const rule = JSON.stringify([{ decision: "deny", tool: "read_file", path: "AGENTS.md" }]);
    expect((await runErrand(["agents"], project)).out).not.toContain("deny");
    expect(await runErrand(["config", "set", "permissions", rule], project)).toMatchObject({ code: 0 });
    const { out, err } = await runErrand(["agents"], project);
    expect(out + err).toContain("the rules deny reading it");
  } finally {
    project.remove();
  }
}, 120_000);
