/** The modules that a process loads at its start. `npm run bench:startup` measures how long the start takes. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const ownNode = fileURLToPath(new URL("node_modules/.bin/node", root));
const node = existsSync(ownNode) ? ownNode : process.execPath;

const EMPTY_HOME = fileURLToPath(new URL(".", import.meta.url));

/** Makes the process write the URLs of all modules that it loaded to its stderr when it ends. */
const REPORT = `
  import { registerHooks } from "node:module";
  const seen = [];
  registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) });
  process.on("exit", () => process.stderr.write(seen.join("\\n")));
`;

/** The modules that a process loads: files of the sources, packages, and modules of Node.js. */
function loadedBy(...args: readonly string[]): string[] {
  const reporter = `--import=data:text/javascript,${encodeURIComponent(REPORT)}`;
  const { status, stderr } = spawnSync(node, [reporter, ...args], {
    cwd: fileURLToPath(root),
    // A home folder without agent files, which would be read.
    env: {
      ...process.env,
      HOME: EMPTY_HOME,
      XDG_CONFIG_HOME: EMPTY_HOME,
      XDG_CACHE_HOME: join(tmpdir(), "errand-cache"),
    },
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  const addresses = stderr.split("\n").filter((line) => /^(node|file):/.test(line));
  return addresses.map((line) => {
    if (line.startsWith("node:")) return line;
    const [, packageName] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(line) ?? [];
    return packageName ?? line.slice(root.href.length);
  });
}

function packagesOf(loaded: readonly string[]): string[] {
  return [...new Set(loaded)].filter((name) => !name.startsWith("node:") && !name.endsWith(".ts"));
}

test("errand --version loads nothing but what reads the version", () => {
  const loaded = loadedBy("src/cli/main.ts", "--version");
  expect(loaded.filter((name) => name.endsWith(".ts"))).toEqual([
    "src/cli/main.ts",
    "src/cli/start.ts",
    "src/cli/version.ts",
  ]);
  expect(packagesOf(loaded)).toEqual([]);
  expect(loaded).not.toContain("node:sqlite");
});

test("importing the library loads no package, and no model", () => {
  const loaded = loadedBy("--input-type=module", "-e", 'await import("./src/index.ts")');
  expect(loaded).toContain("src/index.ts");
  expect(packagesOf(loaded)).toEqual([]);
  expect(loaded.filter((name) => /models\/ai-sdk\/ai-sdk-model\.ts|\/rehearsal\//.test(name))).toEqual([]);
});

test("a command that calls no real model loads the package of the command line alone", () => {
  const run = ["src/cli/main.ts", "run", "--store", "memory", "--model", "offline/rehearsal", "hello"];
  expect(packagesOf(loadedBy(...run)).toSorted()).toEqual(["commander"]);
});
