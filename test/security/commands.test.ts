/** Command rules allow exact arguments in the workspace only, and risky rules cause a warning. */

import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RISKY_PROGRAMS } from "../../src/cli/settings/permission-rules.ts";
import type { PermissionRule } from "../../src/index.ts";
import { projectFolder, runErrand } from "../cli/support/errand-process.ts";
import { callIn, hostileFolder } from "./support/hostile-folder.ts";

const RULES: PermissionRule[] = [
  { decision: "allow", tool: "run_command", command: ["echo", "one"] },
  { decision: "allow", tool: "run_command", command: ["printf", "*"] },
  { decision: "allow", tool: "run_command", command: ["pwd"], path: "inner/**" },
  { decision: "deny", tool: "*", path: "closed/**" },
];

test("an allowed command runs with its exact arguments in its folder; any other is asked about or denied", async () => {
  const folder = hostileFolder({ "inner/a": "", "closed/a": "", "vendor/a": "" });
  mkdirSync(join(folder, "inner/deep"));
  symlinkSync("../vendor", join(folder, "inner/out"));
  symlinkSync("../closed", join(folder, "inner/shut"));
  for (const [input, expected] of [
    [{ argv: ["echo", "one"] }, "ran"],
    [{ argv: ["echo", "one"], folder: "." }, "ran"],
    [{ argv: ["printf", "%s", "x"] }, "ran"],
    [{ argv: ["pwd"], folder: "inner/deep" }, "ran"],
    [{ argv: ["echo", "one", "two"] }, "asked"],
    [{ argv: ["echo"] }, "asked"],
    [{ argv: ["/bin/echo", "one"] }, "asked"],
    [{ argv: ["echo", "one"], folder: "vendor" }, "asked"],
    [{ argv: ["printf", "x"], folder: "vendor" }, "asked"],
    [{ argv: ["printf", "x"], folder: "inner/.." }, "asked"],
    [{ argv: ["pwd"] }, "asked"],
    [{ argv: ["pwd"], folder: "inner/out" }, "asked"],
    [{ argv: ["pwd"], folder: "inner/shut" }, "refused"],
    [{ argv: ["echo", "one"], folder: "closed" }, "refused"],
  ] as const) {
    const { asked, failed } = await callIn(folder, RULES, ["run_command", input]);
    expect([input, asked ? "asked" : failed ? "refused" : "ran"]).toEqual([input, expected]);
  }
});

test("errand config warns about a program that is allowed with any arguments", async () => {
  const project = projectFolder();
  try {
    const errand = (...args: readonly string[]) => runErrand(args, project);
    const set = (...commands: readonly (readonly string[])[]) =>
      errand(
        "config",
        "set",
        "permissions",
        JSON.stringify(commands.map((command) => ({ decision: "allow", tool: "run_command", command }))),
      );
    const risky = await set(["git", "*"], ["/usr/bin/python3.12", "-m", "*"], ["*"]);
    expect(risky.code).toBe(0);
    expect(risky.err).toContain('["git","*"]: git can start any other program');
    expect(risky.err).toContain("python3.12 can start any other program");
    expect(risky.err).toContain("every program");
    expect((await errand("config")).err).toContain('["git","*"]');
    const fine = await set(["git", "status"], ["ls", "*"]);
    expect([fine.code, fine.err]).toEqual([0, ""]);
  } finally {
    project.remove();
  }
}, 120_000);

test("the documentation lists the programs that must not be allowed with any arguments", () => {
  const page = readFileSync(new URL("../../docs/concepts/permissions.md", import.meta.url), "utf8");
  expect(RISKY_PROGRAMS.filter((program) => !page.includes(`\`${program}\``))).toEqual([]);
});
