import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AGENT_KEYS } from "../../src/definitions/agent-keys.ts";
import { builtInDefinitions } from "../../src/definitions/built-in.ts";
import { AGENT_CONVENTIONS, SKILL_FOLDERS } from "../../src/definitions/conventions.ts";

const page = readFileSync("docs/reference/definitions.md", "utf8");

test("the page of definitions lists the folders that are read, in their order", () => {
  const rows = page.matchAll(/^\| `(\w+)` \| `([^`]+)` \| `~\/([^`]+)` \| `\*([^`]+)` \|$/gm);
  expect([...rows].map(([, program, folder, home, ending]) => [program, folder, home, ending])).toEqual(
    AGENT_CONVENTIONS.map(({ program, folder, homeFolder, ending }) => [program, folder, homeFolder ?? folder, ending]),
  );
  for (const { folder } of SKILL_FOLDERS) expect(page).toContain(`\`${folder}\``);
});

test("the page lists every key that is read, and no other", () => {
  const table = /\| key \| meaning \|\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(page)?.[1] ?? "";
  const keys = table.split("\n").flatMap((row) => [...(row.split(" | ")[0] ?? "").matchAll(/`(\w+)(?::[^`]*)?`/g)]);
  const documented = keys.map(([, key = ""]) => key.replaceAll("_", ""));
  expect(documented.toSorted()).toEqual(AGENT_KEYS.toSorted());
});

test("the page lists the built-in definitions with their tools", () => {
  const tools = [
    { name: "read_file", safe: true },
    { name: "write_file", safe: false },
  ];
  const rows = page.matchAll(/^\| `(\w+)` \| [^|]+ \| (all|those that only read) \|$/gm);
  expect([...rows].map(([, name, having]) => [name, having])).toEqual(
    builtInDefinitions(tools).map((definition) => [
      definition.name,
      definition.tools === undefined ? "all" : "those that only read",
    ]),
  );
});
