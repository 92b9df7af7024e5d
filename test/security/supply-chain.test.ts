/** The packages that are installed with Errand, which are enough for everything but a PostgreSQL store. */

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installRuntimeTree, runtimeTree } from "../../scripts/runtime-tree.mjs";
import { ERROR_CODES } from "../../src/errors.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const ownNode = join(root, "node_modules", ".bin", "node");
const node = existsSync(ownNode) ? ownNode : process.execPath;

const MOST_PACKAGES = 12;
const MOST_BYTES = 6_000_000;
const LICENCES = new Set(["MIT", "ISC", "Apache-2.0", "BSD-3-Clause", "0BSD", "(AFL-2.1 OR BSD-3-Clause)"]);

describe("the runtime packages", () => {
  const tree = runtimeTree(root);

  test("are few and small", () => {
    const bytes = tree.reduce((sum, one) => sum + one.bytes, 0);
    const listed = tree.map(({ name, version }) => `${name}@${version}`).join(" ");
    process.stdout.write(`${tree.length} runtime packages, ${bytes} bytes: ${listed}\n`);
    expect(tree.length, listed).toBeLessThanOrEqual(MOST_PACKAGES);
    expect(bytes).toBeLessThan(MOST_BYTES);
  });

  test("have licences that require only their text", () => {
    expect(tree.filter(({ license }) => !LICENCES.has(license))).toEqual([]);
  });

  test("run no script when they are installed", () => {
    expect(tree.filter(({ installScript }) => installScript)).toEqual([]);
  });

  test("do not include packages that only PostgreSQL or a provider needs", () => {
    const names = tree.map(({ name }) => name);
    for (const name of ["pg", "graphile-worker", "cosmiconfig", "yargs", "zod"]) expect(names).not.toContain(name);
  });

  test("are locked by hash, and the lock file names no registry", () => {
    const text = readFileSync(join(root, "package-lock.json"), "utf8");
    const { packages } = JSON.parse(text) as { packages: Record<string, { integrity?: string }> };
    expect(text).not.toContain('"resolved"');
    expect(tree.filter(({ path }) => packages[path]?.integrity === undefined)).toEqual([]);
  });

  test("package.json allows no install script of a runtime package, and has none of its own", () => {
    const { allowScripts, scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      allowScripts: Record<string, boolean>;
      scripts: Record<string, string>;
    };
    expect(tree.filter(({ name }) => allowScripts[name] === true)).toEqual([]);
    for (const script of ["preinstall", "install", "postinstall", "prepare"]) expect(scripts[script]).toBeUndefined();
  });
});

describe("an installation without the packages of PostgreSQL", () => {
  let place = "";
  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), "errand-plain-"));
    cpSync(join(root, "src"), join(place, "src"), { recursive: true });
    cpSync(join(root, "package.json"), join(place, "package.json"));
    installRuntimeTree(root, place);
  });
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  function run(...args: string[]): { code: number | null; out: string; err: string } {
    const env = { ...process.env, HOME: place, NODE_PATH: "" };
    const found = spawnSync(node, args, { cwd: place, env, encoding: "utf8", timeout: 50_000 });
    return { code: found.status, out: found.stdout, err: found.stderr };
  }
  const errand = (...args: string[]) => run(join(place, "src", "cli", "main.ts"), ...args);

  test("works on a SQLite store", () => {
    const { code, err } = errand("run", "--model", "offline/rehearsal", "--store", join(place, "some.db"), "hello");
    expect(code, err).toBe(0);
    expect(errand("ps", "--all", "--store", join(place, "some.db"))).toMatchObject({ code: 0 });
  });

  test.each(["worker", "ps", "run"])("errand %s on a database says in one sentence what to install", (command) => {
    const task = command === "run" ? ["hello"] : [];
    const { code, out, err } = errand(command, "--store", "postgres://user:secret@127.0.0.1:9/none", ...task);
    expect(err).toBe(
      "error: A PostgreSQL store needs the packages pg and graphile-worker, which are not installed (package-missing)\n" +
        "  Install them where Errand is installed: npm install pg@8 graphile-worker@0.18 (add -g for a global installation).\n",
    );
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });

  test("the library throws the same error, typed", () => {
    const index = JSON.stringify(join(place, "src", "index.ts"));
    const code = `
      const { createErrand, ErrandError } = await import(${index});
      const thrown = await createErrand({ store: "postgres://127.0.0.1:9/none" }).catch((error) => error);
      console.log(JSON.stringify([thrown instanceof ErrandError, thrown.code, thrown.details]));`;
    const { out, err } = run("--input-type=module", "-e", code);
    expect(err).toBe("");
    expect(JSON.parse(out)).toEqual([true, "package-missing", { packages: "pg graphile-worker" }]);
    expect(Object.keys(ERROR_CODES)).toContain("package-missing");
  });

  test("only the missing one of the two is named", () => {
    cpSync(join(root, "node_modules", "pg"), join(place, "node_modules", "pg"), { recursive: true });
    const { err } = errand("ps", "--store", "postgres://127.0.0.1:9/none");
    expect(err).toContain(
      "error: A PostgreSQL store needs the package graphile-worker, which is not installed (package-missing)\n",
    );
  });
});
