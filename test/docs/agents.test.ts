import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DELEGATION_TOOLS, type DelegationTool, delegationToolIs } from "../../src/core/delegation/tools.ts";

const page = readFileSync("docs/concepts/agents.md", "utf8");

/** True if an agent of this kind sees the tool at this depth, where `maxDepth` is 1 and the tree has skills. */
function visible(tool: DelegationTool, kind: "foreground" | "background", depth: number): boolean {
  const agent = { kind, depth, parent: 0, hasCutResult: false, definition: { reporting: "tool" } } as const;
  return DELEGATION_TOOLS[tool].visible(agent, { maxDepth: 1, skills: true });
}

const rows = [...page.matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \| ([^|]+) \| ([^|]+) \|$/gm)];
const tools = rows.flatMap(([, names = "", foreground = "", background = ""]) =>
  names.split(", ").map((name) => ({ name: name.replaceAll("`", ""), foreground, background })),
);

test("the table of the page has every delegation tool", () => {
  expect(tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(DELEGATION_TOOLS).toSorted());
});

test.each(tools)("the page says which kind of agent sees $name, and at which depth", ({ name, ...cells }) => {
  if (!delegationToolIs(name)) throw new Error(`there is no tool ${name}`);
  for (const kind of ["foreground", "background"] as const) {
    expect(cells[kind] !== "no").toBe(visible(name, kind, 0));
    expect(cells[kind].includes("`maxDepth`")).toBe(visible(name, kind, 0) !== visible(name, kind, 1));
  }
});
