import { expect, test } from "vitest";
import type { Json } from "../values/json.ts";
import { callGranted, exactRule, withGrant } from "./grants.ts";
import { permissionOf, type PermissionRule } from "./permissions.ts";

const write = (path: string): { name: string; input: Json } => ({ name: "write_file", input: { path, content: "x" } });
const run = (...argv: string[]): { name: string; input: { argv: string[] } } => ({
  name: "run_command",
  input: { argv },
});

test("a rule names one path, and not the same name in another folder", () => {
  expect(exactRule(write("a.md"))).toEqual({ decision: "allow", tool: "write_file", path: "./a.md" });
  expect(exactRule(write("./docs//a.md"))).toEqual({ decision: "allow", tool: "write_file", path: "docs/a.md" });
  const rule = exactRule(write("a.md"));
  const rules = rule === null ? [] : [rule];
  expect(permissionOf([rules], "write_file", { path: "a.md" })).toBe("allow");
  expect(permissionOf([rules], "write_file", { path: "docs/a.md" })).toBe("ask");
});

test("a command is granted with its words and its folder, and with no others", () => {
  const rule = exactRule(run("npm", "test"));
  expect(rule).toEqual({ decision: "allow", tool: "run_command", path: ".", command: ["npm", "test"] });
  const grants = rule === null ? [] : [rule];
  expect(permissionOf([grants], "run_command", { argv: ["npm", "test"] })).toBe("allow");
  expect(permissionOf([grants], "run_command", { argv: ["npm", "test"], folder: "x" })).toBe("ask");
  expect(permissionOf([grants], "run_command", { argv: ["npm", "test", "x"] })).toBe("ask");
  expect(callGranted(grants, run("npm", "test"))).toBe(true);
  expect(callGranted(grants, { ...run("npm", "test"), input: { argv: ["npm", "test"], timeout_seconds: 9 } })).toBe(
    true,
  );
  for (const other of [run("npm", "test", "--x"), run("npm"), run("npm", "publish"), write("npm")])
    expect(callGranted(grants, other)).toBe(false);
  expect(callGranted(grants, { name: "run_command", input: { argv: ["npm", "test"], folder: "other" } })).toBe(false);
  expect(callGranted(grants, { name: "run_command", input: { argv: ["npm", "test"], shell: true } })).toBe(false);
});

test.each<Json>([
  { path: "../a" },
  { path: "a/../b" },
  { path: "/etc/passwd" },
  { path: "*.md" },
  { path: "a{b,c}" },
  { path: "." },
  { path: 7 },
  { argv: ["git", "*"] },
  { argv: [] },
  { argv: ["a", 7] },
  { argv: ["a"], folder: ".." },
  { argv: ["a"], shell: true },
  {},
  null,
  "text",
])("what no rule names exactly has no grant: %j", (input) => {
  expect(exactRule({ name: "own_tool", input })).toBeNull();
});

test("a file that is reached by a symlink, or has several names, has no grant", () => {
  const call = write("a.md");
  const rule = exactRule(call);
  expect(exactRule({ ...call, file: { real: "b.md" } })).toBeNull();
  expect(callGranted(rule === null ? [] : [rule], { ...call, file: { linked: true } })).toBe(false);
});

test("the same grant is kept once, and there are not too many", () => {
  const rule: PermissionRule = { decision: "allow", tool: "t", path: "a/b" };
  expect(withGrant([rule], { ...rule })).toHaveLength(1);
  let grants: readonly PermissionRule[] = [];
  for (let index = 0; index < 600; index += 1) grants = withGrant(grants, { ...rule, tool: `t${index}` });
  expect(grants).toHaveLength(500);
});
