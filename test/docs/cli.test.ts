import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { projectFolder, runErrand } from "../cli/support/errand-process.ts";
import { JSON_TYPES } from "../../src/cli/display/json-types.ts";
import { COMMANDS } from "../../src/cli/command-list.ts";
import { SETTINGS } from "../../src/cli/settings/setting-table.ts";

vi.setConfig({ testTimeout: 60_000 });

const page = readFileSync("docs/reference/cli.md", "utf8");
const sections = [...page.matchAll(/^## errand (\S+)\n\n([\s\S]+?)\n\n```text\n([\s\S]+?)\n```$/gm)].map(
  ([, name = "", prose = "", help = ""]) => ({ name, prose, help }),
);

test("the page of the command line has a section for every command, in the order of the help", () => {
  expect(sections.map(({ name }) => name)).toEqual(COMMANDS.map(({ name }) => name));
});

test("the page lists all types of lines that --json prints, with the commands that print them", () => {
  const table = page.slice(page.indexOf("## The lines of `--json`"));
  const rows = [...table.matchAll(/^\| `([a-z-]+)` \| ([a-z, ]+) \| /gm)].map(([, type, commands]) => [type, commands]);
  const known = Object.entries(JSON_TYPES).flatMap(([commands, types]) => types.map((type) => [type, commands]));
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(known));
  expect(rows).toHaveLength(known.length);
});

test("the page lists every setting in order, with its variable and whether it needs trust", () => {
  const table = /\| setting \| .*\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(page)?.[1] ?? "";
  const rows = table.trimEnd().split("\n");
  const plain = SETTINGS.filter(({ key }) => !key.startsWith("limits."));
  expect(plain.length).toBeLessThan(SETTINGS.length);
  expect(rows.map((row) => /^\| `([\w.]+)`/.exec(row)?.[1])).toEqual([...plain.map(({ key }) => key), "limits.NAME"]);
  for (const [index, { key, variable = "", asks }] of plain.entries()) {
    const [, , , before = "", trust] = (rows[index] ?? "").split(/ ?\| ?/);
    expect({ key, trust: trust !== "no" }).toEqual({ key, trust: asks !== undefined });
    expect({ key, before }).toEqual({ key, before: expect.stringContaining(variable) });
  }
});

describe.each(sections)("the section of $name", ({ name, prose, help }) => {
  test("shows the help that the program prints, with an example and its exit codes", async () => {
    const { folder, remove } = projectFolder();
    const printed = await runErrand([name, "--help"], { folder }).finally(remove);
    expect(help).toBe(printed.out.trimEnd());
    expect(help).toMatch(/\nExamples:\n {2}\S*.*errand /);
    expect(help).toMatch(/\nExit codes: 0 /);
    for (const option of ["--store <path>", "--json", "--debug"]) expect(help).toContain(option);
    expect(prose).toContain("`--json`");
  });
});
