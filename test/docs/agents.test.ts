import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type DelegationTool, DELEGATION_TOOLS, delegationToolIs } from "../../src/core/delegation/tools.ts";

const page = readFileSync("docs/concepts/agents.md", "utf8");

/** True if an agent of this kind sees the tool at this depth, where `maxDepth` is 1. */
function visible(tool: DelegationTool, kind: "foreground" | "background", depth: number): boolean {
  const agent = { kind, depth, parent: 0, hasCutResult: false, definition: { reporting: "tool" } } as const;
  return DELEGATION_TOOLS[tool].visible(agent, { maxDepth: 1, skills: false });
}

test("the page says which kind of agent sees which delegation tool, and at which depth", () => {
  const rows = [...page.matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \| ([^|]+) \| ([^|]+) \|$/gm)];
  const tools = rows.flatMap(([, names = "", foreground = "", background = ""]) =>
    names.split(", ").map((name) => ({ name: name.replaceAll("`", ""), foreground, background })),
  );
  expect(tools.length).toBeGreaterThan(6);
  for (const { name, foreground, background } of tools) {
    if (!delegationToolIs(name)) throw new Error(`there is no tool ${name}`);
    const seen = { foreground, background };
    for (const kind of ["foreground", "background"] as const) {
      expect({ name, kind, seen: seen[kind] !== "no" }).toEqual({ name, kind, seen: visible(name, kind, 0) });
      const bounded = seen[kind].includes("`maxDepth`");
      expect({ name, kind, bounded }).toEqual({
        name,
        kind,
        bounded: visible(name, kind, 0) !== visible(name, kind, 1),
      });
    }
  }
});
