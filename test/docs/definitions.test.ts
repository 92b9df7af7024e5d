import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AGENT_CONVENTIONS, SKILL_FOLDERS } from "../../src/definitions/conventions.ts";

const page = readFileSync("docs/reference/definitions.md", "utf8");

test("the page of definitions lists the folders that are read, in their order", () => {
  const rows = page.matchAll(/^\| `(\w+)` \| `([^`]+)` \| `~\/([^`]+)` \| `\*([^`]+)` \|$/gm);
  expect([...rows].map(([, program, folder, home, ending]) => [program, folder, home, ending])).toEqual(
    AGENT_CONVENTIONS.map(({ program, folder, homeFolder, ending }) => [program, folder, homeFolder ?? folder, ending]),
  );
  for (const { folder } of SKILL_FOLDERS) expect(page).toContain(`\`${folder}\``);
});
