import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../json.ts";
import { narrower, type Permission, permissionOf, type PermissionRule, type Permissions } from "./permissions.ts";

const STRICTNESS: Readonly<Record<Permission, number>> = { allow: 0, ask: 1, deny: 2 };
const TOOLS = ["list_files", "read_file", "write_file", "edit_file", "run_command", "own_tool"];
const PATHS = ["*", "**", "*.md", "src/**", "src/a.ts", ".env", "docs/*", "."];
const COMMANDS = [[], ["git"], ["git", "status"], ["rm"], ["npm", "test"]];

const rule: fc.Arbitrary<PermissionRule> = fc.record(
  {
    decision: fc.constantFrom("allow", "ask", "deny"),
    tool: fc.constantFrom("*", ...TOOLS),
    path: fc.constantFrom(...PATHS),
    command: fc.constantFrom(...COMMANDS),
  },
  { requiredKeys: ["decision", "tool"] },
);
const permissions: fc.Arbitrary<Permissions> = fc.array(fc.array(rule, { maxLength: 5 }), {
  minLength: 1,
  maxLength: 3,
});
const input: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom("src/a.ts", "README.md", ".env", "../x", "/ws/.env", "a/../.env", ".").map((path) => ({ path })),
  fc
    .constantFrom(["git", "status"], ["git", "push"], ["rm", "-rf"], ["npm", "test", "--", "rm"])
    .map((argv) => ({ argv })),
  fc.constant({ argv: ["git status; rm -rf /"], shell: true }),
  fc.constantFrom(null, "text", [], {}, { path: 7 }, { argv: "ls" }),
);
const tool = fc.constantFrom(...TOOLS);

test("reading is allowed, writing and running is asked about, and so is a tool nobody knows", () => {
  const decided = TOOLS.map((name) => permissionOf([[]], name, {}));
  expect(decided).toEqual(["allow", "allow", "ask", "ask", "ask", "ask"]);
});

test("where there is no list, nobody restricts anything", () => {
  expect(TOOLS.map((name) => permissionOf([], name, {}))).toEqual(TOOLS.map(() => "allow"));
});

test("a deny wins over everything more specific; otherwise the most specific rule decides, and of equals ask", () => {
  const rules: PermissionRule[] = [
    { decision: "ask", tool: "run_command" },
    { decision: "allow", tool: "run_command", command: ["npm", "test"] },
    { decision: "allow", tool: "write_file", path: "docs/**" },
    { decision: "ask", tool: "write_file", path: "docs/**" },
    { decision: "allow", tool: "*", path: "tmp/**" },
    { decision: "deny", tool: "*", path: ".env" },
    { decision: "allow", tool: "read_file", path: ".env" },
  ];
  expect(permissionOf([rules], "run_command", { argv: ["npm", "test", "--watch"] })).toBe("allow");
  expect(permissionOf([rules], "run_command", { argv: ["npm", "publish"] })).toBe("ask");
  expect(permissionOf([rules], "write_file", { path: "docs/a.md" })).toBe("ask");
  expect(permissionOf([rules], "write_file", { path: "tmp/a.md" })).toBe("allow");
  expect(permissionOf([rules], "read_file", { path: ".env" })).toBe("deny");
});

test("a path that hides where it leads is allowed by no pattern, and denied by every pattern it may mean", () => {
  const rules: PermissionRule[] = [
    { decision: "allow", tool: "write_file", path: "src/**" },
    { decision: "deny", tool: "*", path: "secret/**" },
  ];
  for (const path of ["src/a.ts", "./src//a.ts"]) expect(permissionOf([rules], "write_file", { path })).toBe("allow");
  for (const path of ["/ws/src/a.ts", "src/../src/a.ts", "../src/a.ts"]) {
    expect(permissionOf([rules], "write_file", { path })).toBe("ask");
  }
  for (const path of ["secret/a", "./secret/a", "x/../secret/a", "/ws/secret/a", "../ws/secret/a"]) {
    expect(permissionOf([rules], "read_file", { path })).toBe("deny");
  }
});

test("a shell is allowed by no prefix, and a denied command is found among its words", () => {
  const rules: PermissionRule[] = [
    { decision: "allow", tool: "run_command", command: ["git"] },
    { decision: "deny", tool: "run_command", command: ["rm"] },
  ];
  expect(permissionOf([rules], "run_command", { argv: ["git", "log"] })).toBe("allow");
  for (const argv of [["git log"], ["git"], ["git", "log"]]) {
    expect(permissionOf([rules], "run_command", { argv, shell: true })).toBe("ask");
  }
  expect(permissionOf([rules], "run_command", { argv: ["/x/git", "log"] })).toBe("ask");
  for (const argv of [
    ["rm", "x"],
    ["/bin/rm", "x"],
    ["env", "rm", "x"],
    ["sh", "-c", "true; rm x"],
    ["sh", "-c", "$(/bin/rm x)"],
  ]) {
    expect(permissionOf([rules], "run_command", { argv })).toBe("deny");
  }
});

test("what was narrowed decides as the stricter of both, in any order and however often", () => {
  fc.assert(
    fc.property(permissions, permissions, permissions, tool, input, (a, b, c, name, given) => {
      const of = (what: Permissions): number => STRICTNESS[permissionOf(what, name, given)];
      expect(of(narrower(a, b))).toBe(Math.max(of(a), of(b)));
      expect(of(narrower(b, a))).toBe(of(narrower(a, b)));
      expect(of(narrower(narrower(a, b), c))).toBe(of(narrower(a, narrower(b, c))));
      expect(narrower(a, a)).toEqual(a);
      expect(of(narrower(a, []))).toBe(of(a));
      expect(of(narrower([], a))).toBe(of(a));
    }),
  );
});

test("one more deny never allows more, one more allow never undoes a deny, and the order of rules is nothing", () => {
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 6 }), rule, tool, input, (rules, one, name, given) => {
      const before = permissionOf([rules], name, given);
      const denied = permissionOf([[...rules, { ...one, decision: "deny" }]], name, given);
      expect(STRICTNESS[denied]).toBeGreaterThanOrEqual(STRICTNESS[before]);
      const allowed = permissionOf([[...rules, { ...one, decision: "allow" }]], name, given);
      if (before === "deny") expect(allowed).toBe("deny");
      expect(permissionOf([rules.toReversed()], name, given)).toBe(before);
    }),
  );
});
