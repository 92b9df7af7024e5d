import { describe, expect, test } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { resolveSettings, settingItem, type SettingRow, type SettingSources } from "./resolve-settings.ts";

function rowsOf(key: string, given: Partial<Record<"project" | "user", Json>>, more: Partial<SettingSources> = {}) {
  const map = (value: Json | undefined): ReadonlyMap<string, Json> =>
    new Map(value === undefined ? [] : [[key, value]]);
  const sources: SettingSources = {
    linked: false,
    env: {},
    project: map(given.project),
    user: map(given.user),
    userFile: "config.json",
    trusted: () => false,
    ...more,
  };
  return resolveSettings(sources).filter((row) => row.key === key);
}

const short = ({ value, from, used, asks }: SettingRow): readonly unknown[] => [value, from, used, asks];

test("the environment goes before the folder, that before the user, that before the default", () => {
  const both = { project: "a/project", user: "a/user" };
  const env = { ERRAND_MODEL: " a/environment " };
  const trusted = (): boolean => true;
  expect(rowsOf("model", both, { env, trusted }).map(short)).toEqual([["a/environment", "environment", true, null]]);
  expect(rowsOf("model", both, { env: { ERRAND_MODEL: " " }, trusted }).map(short)).toEqual([
    ["a/project", "project", true, "a model"],
  ]);
  expect(rowsOf("model", { user: "a/user" }).map(short)).toEqual([["a/user", "user", true, null]]);
  expect(rowsOf("model", {}).map(short)).toEqual([[null, "default", true, null]]);
});

describe("a folder's value that asks for something is not used unless it is trusted", () => {
  test.each<readonly [string, Json, Json | undefined, string | null]>([
    ["baseUrl", "http://here.example/v1", undefined, "a base URL"],
    ["model", "openai/x", undefined, "a model"],
    ["model", "openai/x", "openai/y", "a model"],
    ["model", "openai/x", "openai/x", null],
    ["timeout", 5, 1, null],
    ["store", "data/errand.db", undefined, "a store"],
    ["store", "memory", undefined, "a store"],
    ["store", "../other/errand.db", undefined, "a store"],
    ["store", "postgres://elsewhere.example/name", undefined, "a store"],
    ["store", "mine.db", "mine.db", null],
    ["retentionDays", 30, undefined, null],
    ["retentionDays", 29, undefined, "a shorter retention than yours"],
    ["retentionDays", 29, 7, null],
    ["retentionDays", 1_000, null, "a shorter retention than yours"],
    ["retentionDays", null, 7, null],
    ["limits.maxDepth", 1, undefined, null],
    ["limits.maxDepth", 2, undefined, "a limit above yours"],
    ["limits.maxDepth", 2, 3, null],
    ["limits.costPerTree", 5, undefined, null],
    ["limits.costPerTree", 5, 4, "a limit above yours"],
    ["limits.costPerTree", null, 4, "a limit above yours"],
    ["subagent.enabled", false, undefined, null],
    ["subagent.enabled", true, undefined, null],
    ["subagent.enabled", true, false, "delegation, which you have switched off"],
    ["permissions", [{ decision: "deny", tool: "*" }], undefined, null],
    [
      "permissions",
      [
        { decision: "deny", tool: "*" },
        { decision: "allow", tool: "x" },
      ],
      undefined,
      "permissions",
    ],
  ])("%s %j, with %j as the user's: %j", (key, project, user, asks) => {
    const given = { project, ...(user === undefined ? {} : { user }) };
    const [first, ...rest] = rowsOf(key, given);
    expect(first).toMatchObject({ value: project, from: "project", used: asks === null, asks });
    if (asks !== null) expect(rest[0]).toMatchObject({ from: user === undefined ? "default" : "user", used: true });
    const item = settingItem(key, project, asks ?? "");
    const trusting = rowsOf(key, given, { trusted: ({ name, hash }) => name === item.name && hash === item.hash });
    expect(trusting[0]).toMatchObject({ value: project, used: true });
  });
});

test("a file that is reached by a symlink asks for trust with every value", () => {
  expect(rowsOf("timeout", { project: 5 }, { linked: true })[0]).toMatchObject({
    used: false,
    asks: "a symlinked file",
  });
  const trusted = (): boolean => true;
  expect(rowsOf("timeout", { project: 5 }, { linked: true, trusted })[0]).toMatchObject({ value: 5, used: true });
});

test("permissions of the folder and of the user both hold", () => {
  const deny: Json = [{ decision: "deny", tool: "run_command" }];
  const ask: Json = [{ decision: "ask", tool: "*", path: "src/**" }];
  expect(rowsOf("permissions", { project: deny, user: ask }).map(short)).toEqual([
    [deny, "project", true, null],
    [ask, "user", true, null],
  ]);
});

test("a value that is wrong is an error that says where and why", () => {
  for (const [key, value, why] of [
    ["model", "sonnet", "provider/name"],
    ["model", 7, "provider/name"],
    ["baseUrl", "file:///etc/passwd", "http or https"],
    ["baseUrl", "https://user:secret@x.example", "a password does not belong there"],
    ["store", " ", "the path of a file"],
    ["timeout", 0, "above 0"],
    ["timeout", "5", "above 0"],
    ["retentionDays", 0, "from 1"],
    ["retentionDays", 1.5, "whole number"],
    ["limits.maxDepth", -1, "from 0"],
    ["limits.maxDepth", null, "from 0"],
    ["limits.liveChildren", 0, "from 1"],
    ["limits.costPerTree", "none", "or none"],
    ["subagent.enabled", "no", "true or false"],
    ["subagent.enabled", null, "true or false"],
    ["permissions", {}, "a list of rules"],
    ["permissions", [{ decision: "maybe", tool: "x" }], "rule 1: its decision"],
    ["permissions", [{ decision: "ask", tool: "" }], "its tool"],
    ["permissions", [{ decision: "ask", tool: "x", path: 1 }], "its path"],
    ["permissions", [{ decision: "ask", tool: "x", command: [] }], "its command"],
    ["permissions", [{ decision: "ask", tool: "x", command: ["a", 1] }], "its command"],
    [
      "permissions",
      [
        { decision: "ask", tool: "x" },
        { decision: "ask", tool: "x", why: "x" },
      ],
      'rule 2: "why" is not known',
    ],
  ] as const) {
    for (const place of ["project", "user"] as const) {
      const where = place === "project" ? ".errand/config.json" : "config.json";
      expect(() => rowsOf(key, { [place]: value as Json }), `${key} ${JSON.stringify(value)}`).toThrow(
        expect.objectContaining({ code: "config-invalid", message: expect.stringContaining(why) }),
      );
      expect(() => rowsOf(key, { [place]: value as Json })).toThrow(where);
    }
  }
  expect(() => rowsOf("model", {}, { env: { ERRAND_MODEL: "x" } })).toThrow("the variable ERRAND_MODEL");
});
