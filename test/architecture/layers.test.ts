/**
 * The sources keep to their layers. The tool that checks it is run on a small tree in which every rule is broken once,
 * on one with everything that is allowed, and on the sources.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ICruiseResult } from "dependency-cruiser";
import { describe, expect, onTestFinished, test } from "vitest";
import configuration from "../../.dependency-cruiser.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const cruiser = join(root, "node_modules", "dependency-cruiser", "bin", "dependency-cruiser.mjs");

type Imports = Readonly<Record<string, readonly string[]>>;

function cruise(folder: string): { modules: string[]; violations: string[] } {
  const config = join(root, ".dependency-cruiser.mjs");
  const args = [cruiser, "src", "--config", config, "--output-type", "json"];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  expect(stderr).toBe("");
  const result = JSON.parse(stdout) as ICruiseResult;
  return {
    modules: result.modules.map((module) => module.source).filter((source) => source.startsWith("src/")),
    violations: result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`).toSorted(),
  };
}

/** A tree with the layout of the real one. Each file imports the listed files, as types if the entry says "type". */
function makeTree(imports: Imports): string {
  const folder = mkdtempSync(join(tmpdir(), "errand-layers-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, targets] of Object.entries(imports)) {
    const lines = targets.map((target, index) =>
      target.startsWith("type ")
        ? `import type { a as a${index} } from "${target.slice(5)}";\nexport type A${index} = typeof a${index};`
        : `import { a as a${index} } from ${JSON.stringify(target)};\nexport const b${index} = a${index};`,
    );
    write(path, `${lines.join("\n")}\nexport const a = 1;\n`);
  }
  for (const name of ["declared", "dev-only", "undeclared", "vitest", "fast-check"]) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: "1.0.0", main: "index.js" }));
    write(`node_modules/${name}/index.js`, "exports.a = 1;\n");
  }
  const devDependencies = { "dev-only": "1.0.0", vitest: "1.0.0", "fast-check": "1.0.0" };
  write(
    "package.json",
    JSON.stringify({ name: "tree", type: "module", dependencies: { declared: "1.0.0" }, devDependencies }),
  );
  write("tsconfig.json", JSON.stringify({ compilerOptions: { module: "nodenext", allowImportingTsExtensions: true } }));
  return folder;
}

/** One file in each folder, for the broken trees to import. */
const folders: Imports = {
  "src/index.ts": [],
  "src/errors.ts": [],
  "src/core/ids.ts": [],
  "src/contracts/store.ts": [],
  "src/processes/supervise.ts": [],
  "src/models/scripted.ts": [],
  "src/tools/files.ts": [],
  "src/runners/in-process.ts": [],
  "src/stores/memory.ts": [],
  "src/definitions/read.ts": [],
  "src/view/model.ts": [],
  "src/host-tools/tools.ts": [],
  "src/runtime/loop.ts": [],
  "src/testing/kit.ts": [],
  "src/mcp/serve.ts": [],
  "src/server/http.ts": [],
  "src/cli/run.ts": [],
  "test/support.ts": [],
};

const broken: readonly (readonly [rule: string, from: string, target: string, to: string])[] = [
  ["core-imports-only-core", "src/core/a.ts", "../errors.ts", "src/errors.ts"],
  ["core-imports-only-core", "src/core/b.ts", "node:fs", "fs"],
  ["core-imports-only-core", "src/core/c.ts", "declared", "node_modules/declared/index.js"],
  ["core-imports-only-core", "src/core/d.ts", "type ../contracts/store.ts", "src/contracts/store.ts"],
  ["core-tests-import-only-core-and-test-tools", "src/core/a.test.ts", "../errors.ts", "src/errors.ts"],
  ["core-tests-import-only-core-and-test-tools", "src/core/b.test.ts", "declared", "node_modules/declared/index.js"],
  ["core-tests-import-only-core-and-test-tools", "src/core/c.test.ts", "../runtime/loop.ts", "src/runtime/loop.ts"],
  ["layer-0-imports-no-higher-layer", "src/core/e.ts", "type ../stores/memory.ts", "src/stores/memory.ts"],
  ["layer-1-imports-no-higher-layer", "src/contracts/a.ts", "type ../models/scripted.ts", "src/models/scripted.ts"],
  ["layer-1-imports-no-higher-layer", "src/contracts/b.ts", "../index.ts", "src/index.ts"],
  ["layer-2-imports-no-higher-layer", "src/stores/a.ts", "../runtime/loop.ts", "src/runtime/loop.ts"],
  ["layer-2-imports-no-higher-layer", "src/tools/a.ts", "type ../cli/run.ts", "src/cli/run.ts"],
  ["layer-2-imports-no-higher-layer", "src/tools/a.test.ts", "../runtime/loop.ts", "src/runtime/loop.ts"],
  ["layer-3-imports-no-higher-layer", "src/runtime/a.ts", "../server/http.ts", "src/server/http.ts"],
  ["layer-3-imports-no-higher-layer", "src/runtime/d.ts", "../index.ts", "src/index.ts"],
  ["core-imports-no-folder-of-its-layer", "src/core/f.ts", "type ../errors.ts", "src/errors.ts"],
  ["models-imports-no-folder-of-its-layer", "src/models/a.ts", "../tools/files.ts", "src/tools/files.ts"],
  ["tools-imports-no-folder-of-its-layer", "src/tools/b.ts", "type ../stores/memory.ts", "src/stores/memory.ts"],
  ["runners-imports-no-folder-of-its-layer", "src/runners/a.ts", "../definitions/read.ts", "src/definitions/read.ts"],
  ["stores-imports-no-folder-of-its-layer", "src/stores/b.ts", "../models/scripted.ts", "src/models/scripted.ts"],
  [
    "definitions-imports-no-folder-of-its-layer",
    "src/definitions/a.ts",
    "../runners/in-process.ts",
    "src/runners/in-process.ts",
  ],
  ["layer-2-imports-no-higher-layer", "src/view/a.ts", "../runtime/loop.ts", "src/runtime/loop.ts"],
  ["view-imports-no-folder-of-its-layer", "src/view/b.ts", "type ../stores/memory.ts", "src/stores/memory.ts"],
  ["layer-2-imports-no-higher-layer", "src/host-tools/a.ts", "type ../runtime/loop.ts", "src/runtime/loop.ts"],
  ["host-tools-imports-no-folder-of-its-layer", "src/host-tools/b.ts", "../stores/memory.ts", "src/stores/memory.ts"],
  ["stores-imports-no-folder-of-its-layer", "src/stores/j.ts", "../view/model.ts", "src/view/model.ts"],
  ["layer-3-imports-no-higher-layer", "src/runtime/b.ts", "../testing/kit.ts", "src/testing/kit.ts"],
  ["testing-imports-no-folder-of-its-layer", "src/testing/b.ts", "../mcp/serve.ts", "src/mcp/serve.ts"],
  ["mcp-imports-no-folder-of-its-layer", "src/mcp/a.ts", "../server/http.ts", "src/server/http.ts"],
  ["layer-4-imports-no-higher-layer", "src/mcp/d.ts", "../cli/run.ts", "src/cli/run.ts"],
  ["server-imports-no-folder-of-its-layer", "src/server/a.ts", "../mcp/serve.ts", "src/mcp/serve.ts"],
  ["errors-imports-no-folder-of-its-layer", "src/errors.ts", "type ./core/ids.ts", "src/core/ids.ts"],
  ["watchdog-imports-no-folder-of-its-layer", "src/watchdog.ts", "type ./errors.ts", "src/errors.ts"],
  ["contracts-imports-no-folder-of-its-layer", "src/contracts/c.ts", "type ../plain-json.ts", "src/plain-json.ts"],
  ["plain-json-imports-no-folder-of-its-layer", "src/plain-json.ts", "./contracts/store.ts", "src/contracts/store.ts"],
  [
    "processes-imports-no-folder-of-its-layer",
    "src/processes/a.ts",
    "type ../contracts/store.ts",
    "src/contracts/store.ts",
  ],
  ["periodic-duty-imports-no-folder-of-its-layer", "src/periodic-duty.ts", "type ./errors.ts", "src/errors.ts"],
  ["only-create-runtime-sees-adapters", "src/runtime/c.ts", "../stores/memory.ts", "src/stores/memory.ts"],
  [
    "only-create-runtime-sees-adapters",
    "src/runtime/nested/create-runtime.ts",
    "type ../../tools/files.ts",
    "src/tools/files.ts",
  ],
  ["only-create-runtime-sees-adapters", "src/server/b.ts", "../models/scripted.ts", "src/models/scripted.ts"],
  ["only-create-runtime-sees-adapters", "src/mcp/b.ts", "../definitions/read.ts", "src/definitions/read.ts"],
  ["every-folder-has-a-layer", "src/utils/a.ts", "../core/ids.ts", "src/core/ids.ts"],
  ["every-imported-folder-has-a-layer", "src/cli/b.ts", "../utils/a.ts", "src/utils/a.ts"],
  ["no-cycles", "src/runtime/ping.ts", "./pong.ts", "src/runtime/pong.ts"],
  ["sources-import-only-sources", "src/testing/c.ts", "../../test/support.ts", "test/support.ts"],
  ["sources-import-no-tests", "src/stores/c.ts", "./d.test.ts", "src/stores/d.test.ts"],
  ["sources-import-no-test-support", "src/stores/h.ts", "./i.test-support.ts", "src/stores/i.test-support.ts"],
  ["sources-import-no-dev-dependencies", "src/stores/e.ts", "dev-only", "node_modules/dev-only/index.js"],
  ["sources-import-no-dev-dependencies", "src/testing/d.ts", "type vitest", "node_modules/vitest/index.js"],
  ["mcp-imports-only-bundled-packages", "src/mcp/c.ts", "dev-only", "node_modules/dev-only/index.js"],
  ["packages-are-declared", "src/stores/f.ts", "undeclared", "node_modules/undeclared/index.js"],
  ["imports-resolve", "src/stores/g.ts", "./nowhere.ts", "./nowhere.ts"],
];

describe("dependency-cruiser reports what the rules forbid", () => {
  const imports: Record<string, readonly string[]> = {
    ...folders,
    "src/stores/d.test.ts": [],
    "src/stores/i.test-support.ts": [],
    "src/runtime/pong.ts": ["type ./ping.ts"],
  };
  for (const [, from, target] of broken) imports[from] = [target];
  const expected = broken.map(([rule, from, , to]) => `${rule}: ${from} → ${to}`);

  test("each broken rule is reported at the file that breaks it", () => {
    const { violations } = cruise(makeTree(imports));
    for (const violation of expected) expect(violations).toContain(violation);
    const breaking = new Set(broken.map(([, from]) => from));
    expect(violations.filter((violation) => !breaking.has(violation.split(": ")[1]?.split(" → ")[0] ?? ""))).toEqual(
      [],
    );
  });

  test("every rule is broken by one of these trees", () => {
    const names = (configuration.forbidden ?? []).map((rule) => rule.name);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !broken.some(([rule]) => rule === name))).toEqual([]);
  });

  test("what is allowed is not reported", () => {
    const everyAdapter = [
      "../models/scripted.ts",
      "../tools/files.ts",
      "../runners/in-process.ts",
      "../stores/memory.ts",
    ];
    const tree = makeTree({
      ...folders,
      "src/index.ts": [
        "./runtime/create-runtime.ts",
        "./errors.ts",
        "./stores/memory.ts",
        "./server/http.ts",
        "./core/ids.ts",
      ],
      "src/index.test.ts": ["./index.ts", "vitest"],
      "src/core/decide.ts": ["./ids.ts", "type ./text/render.ts"],
      "src/core/text/render.ts": ["../ids.ts"],
      "src/core/decide.test.ts": ["./decide.ts", "vitest", "fast-check", "node:fs"],
      "src/contracts/model.ts": ["type ../core/ids.ts", "type ../errors.ts", "type ./store.ts"],
      "src/stores/sqlite.ts": ["../contracts/store.ts", "../core/ids.ts", "../errors.ts", "node:fs", "declared"],
      "src/stores/sqlite.test.ts": ["./sqlite.ts", "vitest", "dev-only"],
      "src/runtime/create-runtime.ts": [
        ...everyAdapter,
        "../definitions/read.ts",
        "./loop.ts",
        "type ../contracts/store.ts",
      ],
      "src/tools/run-command.ts": ["../processes/supervise.ts"],
      "src/view/fold.ts": ["./model.ts", "type ../contracts/store.ts", "../core/ids.ts", "../errors.ts"],
      "src/host-tools/tools.ts": ["../core/ids.ts", "../errors.ts"],
      "src/runtime/events.ts": ["../view/model.ts", "../host-tools/tools.ts"],
      "src/runtime/loop.test.ts": ["./loop.ts", "../stores/memory.ts", "vitest"],
      "src/testing/kit.ts": ["../models/scripted.ts", "../contracts/store.ts", "../runtime/create-runtime.ts"],
      "src/server/http.ts": ["../runtime/create-runtime.ts", "../contracts/store.ts", "../view/model.ts"],
      "src/cli/run.ts": ["../runtime/create-runtime.ts", "../view/model.ts", "../stores/memory.ts", "declared"],
    });
    expect(cruise(tree).violations).toEqual([]);
  });
});

test("the sources keep to their layers", () => {
  const { modules, violations } = cruise(root);
  expect(modules.length).toBeGreaterThan(0);
  expect(violations).toEqual([]);
});
