import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../values/json.ts";
import {
  joinPermissions,
  type Permission,
  permissionOf,
  type PermissionRule,
  type Permissions,
} from "./permissions.ts";

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

test("reading is allowed; writing, running and unknown tools are asked about", () => {
  const decided = TOOLS.map((name) => permissionOf([[]], name, {}));
  expect(decided).toEqual(["allow", "allow", "ask", "ask", "ask", "ask"]);
});

test("without any list of rules everything is allowed", () => {
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
  expect(permissionOf([rules], "run_command", { argv: ["npm", "test"] })).toBe("allow");
  expect(permissionOf([rules], "run_command", { argv: ["npm", "test", "--watch"] })).toBe("ask");
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
    { decision: "allow", tool: "run_command", command: ["git", "*"] },
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
      expect(of(joinPermissions(a, b))).toBe(Math.max(of(a), of(b)));
      expect(of(joinPermissions(b, a))).toBe(of(joinPermissions(a, b)));
      expect(of(joinPermissions(joinPermissions(a, b), c))).toBe(of(joinPermissions(a, joinPermissions(b, c))));
      expect(joinPermissions(a, a)).toEqual(a);
      expect(of(joinPermissions(a, []))).toBe(of(a));
      expect(of(joinPermissions([], a))).toBe(of(a));
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

test("an allowed command is exactly its words, in the workspace itself, unless the rule says more", () => {
  const rules: PermissionRule[] = [
    { decision: "allow", tool: "run_command", command: ["npm", "test"] },
    { decision: "allow", tool: "run_command", command: ["ls", "*"] },
    { decision: "allow", tool: "run_command", command: ["make"], path: "tools/**" },
  ];
  const of = (input: Json, real?: string): Permission =>
    permissionOf([rules], "run_command", input, real === undefined ? {} : { real });
  for (const argv of [["npm", "test"], ["ls"], ["ls", "-l", "x"]]) expect(of({ argv })).toBe("allow");
  for (const folder of [".", "./", ""]) expect(of({ argv: ["npm", "test"], folder })).toBe("allow");
  for (const folder of ["vendor/evil", "..", "a/..", "/ws"]) expect(of({ argv: ["npm", "test"], folder })).toBe("ask");
  expect(of({ argv: ["make"], folder: "tools/a" })).toBe("allow");
  expect(of({ argv: ["make"], folder: "tools/a" }, "vendor")).toBe("ask");
  expect(of({ argv: ["make"] })).toBe("ask");
  for (const argv of [["npm", "test", "--", "x"], ["npm"], ["npm", "test", 7], ["npx"]])
    expect(of({ argv })).toBe("ask");
});

test("an allow must match the real path too, and a deny may match either", () => {
  const rules: PermissionRule[] = [
    { decision: "allow", tool: "write_file", path: "docs/**" },
    { decision: "deny", tool: "read_file", path: "secret" },
  ];
  expect(permissionOf([rules], "write_file", { path: "docs/a" })).toBe("allow");
  expect(permissionOf([rules], "write_file", { path: "docs/a" }, { real: "docs/b" })).toBe("allow");
  expect(permissionOf([rules], "write_file", { path: "docs/a" }, { real: "src/a" })).toBe("ask");
  for (const tool of ["read_file", "search_text", "list_files", "edit_file"]) {
    expect(permissionOf([rules], tool, { path: "docs/a" }, { real: "secret/a" })).toBe("deny");
    for (const path of ["secret", "secret/a/b", "SECRET/a", "secret./a", "Secret ::$DATA", "x/secret/a"])
      expect(permissionOf([rules], tool, { path })).toBe("deny");
    expect(permissionOf([rules], tool, { path: "secrets" })).not.toBe("deny");
  }
});

test("where a path is denied, a file with several names is asked about", () => {
  const allowed: PermissionRule = { decision: "allow", tool: "read_file", path: "**" };
  const denied: PermissionRule = { decision: "deny", tool: "*", path: ".env" };
  expect(permissionOf([[allowed]], "read_file", { path: "a" }, { linked: true })).toBe("allow");
  expect(permissionOf([[allowed, denied]], "read_file", { path: "a" }, { linked: true })).toBe("ask");
  expect(permissionOf([[allowed, denied]], "read_file", { path: "a" })).toBe("allow");
});

test("a change of a file that changes what Errand does later is asked about, unless a rule names it", () => {
  const all: PermissionRule = { decision: "allow", tool: "*", path: "**" };
  const plain: PermissionRule = { decision: "allow", tool: "write_file" };
  const paths = [
    "AGENTS.md",
    "sub/agents.MD",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    ".errand/config.json",
    ".errand/agents/a.md",
    ".git/hooks/pre-commit",
    ".GIT/config",
    ".git./config",
    ".g\u200cit/config",
    "GIT~1/config",
    "x/.claude/skills/a/SKILL.md",
    ".gemini/agents/a.md",
    ".github/agents/a.agent.md",
    ".opencode/agent/a.md",
    ".cursor/agents/a.md",
    ".codex/agents/a.toml",
    "home/.config/errand/config.json",
  ];
  for (const path of paths) {
    for (const rules of [[all], [plain], [all, plain]]) {
      expect([path, permissionOf([rules], "write_file", { path })]).toEqual([path, "ask"]);
      expect(permissionOf([rules], "write_file", { path: "notes.txt" }, { real: path })).toBe("ask");
    }
    expect(permissionOf([[all]], "read_file", { path })).toBe("allow");
  }
  const exact: PermissionRule = { decision: "allow", tool: "write_file", path: "AGENTS.md" };
  expect(permissionOf([[exact]], "write_file", { path: "AGENTS.md" })).toBe("allow");
  expect(permissionOf([[exact]], "write_file", { path: "./AGENTS.md" })).toBe("allow");
  expect(permissionOf([[exact]], "write_file", { path: "sub/AGENTS.md" })).toBe("ask");
  expect(permissionOf([[exact]], "write_file", { path: "AGENTS.md" }, { real: "sub/AGENTS.md" })).toBe("ask");
  expect(permissionOf([[all]], "write_file", { path: ".github/workflows/a.yml" })).toBe("allow");
});

test("no path makes a pattern take long: what would is in doubt, so that a deny matches and an allow does not", () => {
  const pattern = `{${Array.from({ length: 60 }, (_, index) => `*a*a*a*${index % 10}`).join(",")}}`;
  const path = `/${`${"a".repeat(60)}/`.repeat(60)}a`;
  const before = process.cpuUsage();
  expect(permissionOf([[{ decision: "deny", tool: "*", path: pattern }]], "write_file", { path })).toBe("deny");
  expect(permissionOf([[{ decision: "allow", tool: "*", path: pattern }]], "write_file", { path })).toBe("ask");
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(50);
});
