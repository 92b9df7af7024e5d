/** `errand config`, and how commands use the settings. */

import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/index.ts";
import { definedProject, type DefinedProject } from "./support/defined-project.ts";
import { runErrand, SLOW, storeOf } from "./support/errand-process.ts";
import { saidOf } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 120_000 });

const PROJECT = ".errand/config.json";
const OWN = ".config/errand/config.json";

function held(folder: string, path: string): unknown {
  return JSON.parse(readFileSync(join(folder, path), "utf8"));
}

describe("errand config", () => {
  test("lists every setting with its value and where it comes from", async () => {
    const project = definedProject(
      { [PROJECT]: '{"timeout":60,"limits":{"maxDepth":1}}' },
      { [OWN]: '{"model":"a/b"}' },
    );
    const rows = await project.json("config");
    expect(rows.map(({ key }) => key)).toEqual([
      "model",
      "baseUrl",
      "store",
      "useDatabaseUrl",
      "timeout",
      "retentionDays",
      "subagent.enabled",
      "permissions",
      ...Object.keys(LIMITS).map((name) => `limits.${name}`),
    ]);
    const { out } = await project.errandWith(
      { OPENAI_COMPATIBLE_BASE_URL: "http://x/v1" },
      "config",
      "--store",
      "x.db",
    );
    expect(out).toMatch(/^SETTING +VALUE +FROM\n/);
    for (const line of [
      `model +a/b +user: ${project.home}/\\.config/errand/config\\.json`,
      "baseUrl +http://x/v1 +environment: OPENAI_COMPATIBLE_BASE_URL",
      "store +x\\.db +flag: --store",
      "timeout +60 +project: \\.errand/config\\.json",
      "retentionDays +30 +default",
      "permissions +none +default",
      "limits\\.maxDepth +1 +project: \\.errand/config\\.json",
      "limits\\.costPerTree +none +default",
    ]) {
      expect(out).toMatch(new RegExp(`^${line}$`, "m"));
    }
  });

  test("sets, reads and unsets for the folder and for the user in private files, and keeps unknown keys", async () => {
    const project = definedProject({ [PROJECT]: '{"later":{"x":[1]},"limits":{"new":1}}' });
    const set = await project.errand("config", "set", "limits.maxDepth", "1");
    expect(set.out).toBe("limits.maxDepth is 1 in .errand/config.json\n");
    await project.errand("config", "set", "retentionDays", "none");
    await project.errand("config", "set", "--global", "model", "a/b");
    await project.errand("config", "set", "permissions", '[{"decision":"deny","tool":"*","command":["rm"]}]');
    expect(held(project.folder, PROJECT)).toEqual({
      later: { x: [1] },
      limits: { new: 1, maxDepth: 1 },
      retentionDays: null,
      permissions: [{ decision: "deny", tool: "*", command: ["rm"] }],
    });
    expect(held(project.home, OWN)).toEqual({ model: "a/b" });
    expect(statSync(join(project.home, OWN)).mode & 0o777).toBe(0o600);
    expect((await project.errand("config", "get", "model")).out).toBe("a/b\n");
    expect((await project.errand("config", "get", "retentionDays")).out).toBe("none\n");
    const over = await project.errandWith({ ERRAND_MODEL: "c/d" }, "config", "set", "--global", "model", "e/f");
    expect(over.out).toMatch(/^model is e\/f in .+\nwhat holds here is c\/d \(environment: ERRAND_MODEL\)\n$/);
    const unset = await project.errand("config", "unset", "limits.maxDepth");
    expect(unset.out).toBe("limits.maxDepth is no longer set in .errand/config.json\nwhat holds here is 1 (default)\n");
    expect((await project.errand("config", "unset", "store")).out).toContain(
      "store is not set in .errand/config.json\n",
    );
    expect(held(project.folder, PROJECT)).toMatchObject({ limits: { new: 1 } });
  });

  test("never shows a database password, and names ERRAND_DATABASE_URL as the source", async () => {
    const project = definedProject();
    const env = { ERRAND_DATABASE_URL: "postgres://me:hidden@db.example/errand" };
    const { out } = await project.errandWith(env, "config");
    expect(out).toMatch(/^store +postgres:\/\/db\.example\/errand +environment: ERRAND_DATABASE_URL$/m);
    const set = await project.errand("config", "set", "--global", "store", env.ERRAND_DATABASE_URL);
    expect(set.out).toMatch(/^store is postgres:\/\/db\.example\/errand in /);
    const own = await project.errand("config", "get", "store");
    expect(own.out).toBe("postgres://db.example/errand\n");
    expect(out + set.out + own.out).not.toContain("hidden");
    expect(held(project.home, OWN)).toEqual({ store: env.ERRAND_DATABASE_URL });
  });

  test("an unknown key or value is a usage error with the nearest names, and nothing is written", async () => {
    const project = definedProject();
    for (const [args, said] of [
      [["set", "modle", "a/b"], "did you mean model?"],
      [["get", "maxDepht"], "did you mean limits.maxDepth?"],
      [["unset", "limits.cost"], "did you mean limits.costPerTree?"],
      [["set", "model", "sonnet"], "a model is named provider/name"],
      [["set", "timeout", "soon"], "it is a number above 0"],
      [["set", "limits.maxDepth", "none"], "it is a whole number from 0"],
      [["set", "permissions", "[{]"], "it is a list of rules"],
      [["set", "model"], "needs a value"],
      [["get"], "needs a key"],
      [["sett", "model", "a/b"], "did you mean set"],
    ] as const) {
      const { err, code } = await project.errand("config", ...args);
      expect(saidOf(err), args.join(" ")).toMatchObject({ code: "usage", lines: 2 });
      expect(err).toContain(said);
      expect(code).toBe(2);
    }
    expect(existsSync(join(project.folder, ".errand"))).toBe(false);
  });

  test("an unusable file stops every command in two lines; config can repair it", async () => {
    const project = definedProject({ [PROJECT]: '{"limits":{"maxDepth":"deep"},"timeout":9}' });
    for (const args of [["run", "x"], ["ps"], ["config"]]) {
      const { err, code } = await project.errand(...args);
      expect(saidOf(err)).toMatchObject({ code: "config-invalid", lines: 2 });
      expect(err).toContain("limits.maxDepth in .errand/config.json");
      expect(code).toBe(1);
    }
    await project.errand("config", "unset", "limits.maxDepth");
    expect(held(project.folder, PROJECT)).toEqual({ timeout: 9 });
    for (const content of [
      "{",
      "[]",
      "7",
      "\u0000",
      `{"a":"${"x".repeat(1_100_000)}"}`,
      `{"a":${"[".repeat(60)}${"]".repeat(60)}}`,
    ]) {
      project.write(PROJECT, content);
      expect(saidOf((await project.errand("config")).err)).toMatchObject({ code: "config-invalid", lines: 2 });
    }
    project.write(PROJECT, '{"__proto__":{"model":"a/b"},"modle":"a/b\\u001b[2J"}');
    const odd = await project.errand("config");
    expect(odd.out).toMatch(/^model +none +default$/m);
    expect(odd.err).toContain('"modle" in .errand/config.json is no setting; did you mean model?\n');
    expect(odd.out + odd.err).not.toContain("\u001b");
  });

  test("a project file that is a link is not read; the user's file may be a link", async () => {
    const project = definedProject();
    const outside = join(dirname(project.folder), "outside.json");
    writeFileSync(outside, '{"model":"a/b"}');
    mkdirSync(join(project.folder, ".errand"));
    mkdirSync(join(project.home, dirname(OWN)), { recursive: true });
    symlinkSync(outside, join(project.home, OWN));
    expect((await project.errand("config", "get", "model")).out).toBe("a/b\n");
    await project.errand("config", "set", "--global", "model", "c/d");
    expect(readFileSync(outside, "utf8")).toContain("c/d");
    symlinkSync(outside, join(project.folder, PROJECT));
    expect(saidOf((await project.errand("ps")).err)).toMatchObject({ code: "config-invalid" });
  });
});

describe("settings in commands", () => {
  test("store and timeout apply without an option", async () => {
    const project = definedProject({ [PROJECT]: '{"store":"data/own.db"}' });
    expect((await project.errand("run", "the sample")).err).toContain("sets store, which is not used before you trust");
    await project.errand("trust");
    expect((await project.errand("run", "the sample")).err).toContain("store data/own.db");
    expect(existsSync(join(project.folder, "data/own.db"))).toBe(true);
    expect(await project.json("ps", "--all")).toHaveLength(1);
    expect((await project.errand("ps", "--store", "data/other.db")).err).toContain("There is no store");
    await project.errand("config", "set", "timeout", "0.001");
    expect((await project.errand("run", "the sample")).code).toBe(3);
    expect((await project.errand("run", "--timeout", "600", "the sample")).code).toBe(0);
  });

  test("F7: with delegation switched off no run is created", async () => {
    const project = definedProject();
    expect((await project.errand("config", "set", "subagent.enabled", "false")).out).toBe(
      "subagent.enabled is false in .errand/config.json\n",
    );
    expect(held(project.folder, PROJECT)).toEqual({ subagent: { enabled: false } });
    const logs = async (): Promise<string> => {
      const [first] = await project.json("run", "the sample");
      return JSON.stringify(await project.json("logs", String(first?.["tree"])));
    };
    const off = await logs();
    expect(off).toContain('"subagentEnabled":false');
    expect(off).not.toContain("run-created");
    await project.errand("config", "unset", "subagent.enabled");
    expect(held(project.folder, PROJECT)).toEqual({});
    expect(await logs()).toContain("run-created");
  });

  test("limits are recorded in new trees, and the retention expires old trees", async () => {
    const project = definedProject({ [PROJECT]: '{"limits":{"maxDepth":0,"costPerTree":7}}' });
    const opened = async (): Promise<{ tree: string; facts: string }> => {
      const [first] = await project.json("run", "the sample");
      const tree = String(first?.["tree"]);
      return { tree, facts: JSON.stringify((await project.json("logs", tree))[0]) };
    };
    const { tree, facts } = await opened();
    expect(facts).toContain('"maxDepth":0');
    expect(facts).toContain('"costPerTree":7');
    const db = new DatabaseSync(storeOf(project.folder));
    db.exec("update trees set updated_at = updated_at - 10 * 86400000");
    db.close();
    const state = async (): Promise<unknown> =>
      (await project.json("ps", "--all")).find(({ id }) => id === tree)?.["state"];
    await opened();
    expect(await state()).toBe("idle");
    await project.errand("config", "set", "--global", "retentionDays", "5");
    await opened();
    expect(await state()).toBe("expired");
  });
});

describe("permissions", () => {
  const ALLOW = '{"permissions":[{"decision":"allow","tool":"write_file"},{"decision":"allow","tool":"run_command"}]}';
  const DENY = '{"permissions":[{"decision":"deny","tool":"run_command","command":["touch"]}]}';
  const written = async ({
    folder,
    home,
  }: DefinedProject): Promise<{ code: number | null; files: readonly boolean[] }> => {
    const args = ["run", "--model", "writing/1", "--store", "memory", "write"];
    const { code } = await runErrand(args, { folder, home, entry: SLOW });
    return { code, files: ["out.txt", "made"].map((name) => existsSync(join(folder, name))) };
  };

  test("of the user apply; those of a folder only restrict until they are trusted; then both apply", async () => {
    const hostile = definedProject({ [PROJECT]: ALLOW });
    expect(await written(hostile)).toEqual({ code: 1, files: [false, false] });
    await hostile.errand("trust");
    expect(await written(hostile)).toEqual({ code: 0, files: [true, true] });
    const careful = definedProject({ [PROJECT]: DENY }, { [OWN]: ALLOW });
    expect(await written(careful)).toEqual({ code: 0, files: [true, false] });
  });
});

describe("a folder's settings that need trust", () => {
  const notice = (keys: string): string =>
    `.errand/config.json sets ${keys}, which is not used before you trust this folder: errand trust\n`;
  const used = async ({ json }: DefinedProject, key: string): Promise<unknown> =>
    (await json("config", "get", key)).find((row) => row["used"] === true)?.["value"];

  test("are named in one line and not used until the folder is trusted, and again after a change", async () => {
    const config = {
      baseUrl: "http://far.example/v1",
      store: "../far.db",
      limits: { costPerTree: null, runsPerTree: 9_999 },
    };
    const project = definedProject({ [PROJECT]: JSON.stringify(config) }, { [OWN]: '{"limits":{"costPerTree":5}}' });
    const { err, code } = await project.errand("run", "the sample");
    expect(err.startsWith(notice("baseUrl, store, limits.runsPerTree, limits.costPerTree"))).toBe(true);
    expect(err).toContain(`store ${storeOf(project.folder)}`);
    expect(code).toBe(0);
    expect(existsSync(join(dirname(project.folder), "far.db"))).toBe(false);
    expect((await project.errand("config")).out).toMatch(
      /^baseUrl +http:\/\/far\.example\/v1 +\.errand\/config\.json, not used: it asks for a base URL; errand trust$/m,
    );
    expect(await used(project, "limits.costPerTree")).toBe(5);
    expect((await project.errand("trust")).out).toContain("  .errand/config.json#baseUrl: a base URL\n");
    expect(await used(project, "baseUrl")).toBe("http://far.example/v1");
    expect(await used(project, "limits.costPerTree")).toBe(null);
    expect((await project.errand("run", "the sample")).err).toContain("store ../far.db");
    project.write(PROJECT, JSON.stringify({ ...config, baseUrl: "http://evil.example/v1" }));
    expect((await project.errand("ps")).err.split("\n")[0]).toBe(notice("baseUrl").trim());
    expect(await used(project, "baseUrl")).toBe(null);
  });

  test("a value that the user sets by command is trusted, and no other value", async () => {
    const project = definedProject({ [PROJECT]: '{"limits":{"runsPerTree":9999}}' });
    const { out } = await project.errand("config", "set", "baseUrl", "http://mine.example/v1");
    expect(out).toBe("baseUrl is http://mine.example/v1 in .errand/config.json\n");
    expect(await used(project, "baseUrl")).toBe("http://mine.example/v1");
    expect(await used(project, "limits.runsPerTree")).toBe(100);
  });
});
