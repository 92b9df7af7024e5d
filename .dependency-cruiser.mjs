/**
 * The layers of src/. A lower number never imports a higher one. Folders of the same number never import each other.
 * Type-only imports count. A folder of src/ that is not listed here is an error: give it a number first.
 */
export const layers = [
  ["core", "errors.ts", "watchdog.ts", "periodic-duty.ts"],
  ["contracts", "plain-json.ts", "processes"],
  ["models", "tools", "runners", "stores", "definitions", "view", "host-tools"],
  ["runtime"],
  ["mcp", "server", "testing"],
  ["cli"],
];
/**
 * The folders that the runtime is given. `view` and `host-tools` only work with what they are handed, so every higher
 * layer may import them.
 */
const adapters = layers[2]?.filter((name) => name !== "view" && name !== "host-tools") ?? [];

/** The pattern of a folder or file of src/. @param {string} name */
const pattern = (name) => (name.endsWith(".ts") ? `${name.replace(".", "\\.")}$` : `${name}/`);
/** @param {readonly string[]} names */
const inside = (names) => `^src/(${names.map(pattern).join("|")})`;
const everywhere = [...layers.flat(), "index.ts"];
const tests = "\\.test(-support)?\\.ts$";

/** @type {import("dependency-cruiser").IForbiddenRuleType[]} */
const upwards = layers.slice(0, -1).map((names, number) => ({
  name: `layer-${number}-imports-no-higher-layer`,
  severity: "error",
  comment: `[${number}] ${names.join(", ")} may import only from its own folder and from lower numbers.`,
  from: { path: inside(names) },
  to: { path: inside([...layers.slice(number + 1).flat(), "index.ts"]) },
}));

/** @type {import("dependency-cruiser").IForbiddenRuleType[]} */
const sideways = layers
  .filter((names) => names.length > 1)
  .flatMap((names) =>
    names.map((name) => ({
      name: `${name.replace(".ts", "")}-imports-no-folder-of-its-layer`,
      severity: "error",
      comment: "Folders of the same number never import each other. What they share belongs below them.",
      from: { path: inside([name]) },
      to: { path: inside(names.filter((other) => other !== name)) },
    })),
  );

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    ...upwards,
    ...sideways,
    {
      name: "core-imports-only-core",
      severity: "error",
      comment: "core imports nothing outside core: not errors.ts, no package, no built-in module.",
      from: { path: "^src/core/", pathNot: tests },
      to: { pathNot: "^src/core/", couldNotResolve: false },
    },
    {
      name: "core-tests-import-only-core-and-test-tools",
      severity: "error",
      comment: "A test of core imports core, vitest, fast-check and built-in modules. Other tests belong in test/.",
      from: { path: `^src/core/.*${tests}` },
      to: {
        pathNot: ["^src/core/", "(^|/)node_modules/(vitest|fast-check|@fast-check/vitest)/"],
        dependencyTypesNot: ["core"],
      },
    },
    {
      name: "only-create-runtime-sees-adapters",
      severity: "error",
      comment: "runtime/create-runtime.ts gives the runtime its adapters. The transports use the runtime.",
      from: { path: inside(["runtime", "mcp", "server"]), pathNot: ["^src/runtime/create-runtime\\.ts$", tests] },
      to: { path: inside(adapters) },
    },
    {
      name: "every-folder-has-a-layer",
      severity: "error",
      comment: "This folder of src/ has no number: add it to the layers.",
      from: { path: "^src/", pathNot: [inside(everywhere), "^src/[^/]+\\.test\\.ts$"] },
      to: {},
    },
    {
      name: "every-imported-folder-has-a-layer",
      severity: "error",
      comment: "This folder of src/ has no number: add it to the layers.",
      from: {},
      to: { path: "^src/", pathNot: inside(everywhere) },
    },
    {
      name: "no-cycles",
      severity: "error",
      comment: "Two files that import each other are one concept, or lack a third one.",
      from: { path: "^src/" },
      to: { circular: true },
    },
    {
      name: "sources-import-only-sources",
      severity: "error",
      comment: "src/ is published, and imports nothing from the rest of the repository.",
      from: { path: "^src/" },
      to: { pathNot: ["^src/", "(^|/)node_modules/"], dependencyTypes: ["local"] },
    },
    {
      name: "sources-import-no-tests",
      severity: "error",
      comment: "Code that two tests share belongs in a test support file.",
      from: { path: "^src/" },
      to: { path: "\\.test\\.ts$" },
    },
    {
      name: "sources-import-no-test-support",
      severity: "error",
      comment: "Test support is not published.",
      from: { path: "^src/", pathNot: tests },
      to: { path: tests },
    },
    {
      name: "sources-import-no-dev-dependencies",
      severity: "error",
      comment: "The devDependencies are not installed with the package. Those of src/mcp/ stand in its bundle.",
      from: { path: "^src/", pathNot: ["^src/mcp/", tests] },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["npm-peer", "npm-optional"] },
    },
    {
      name: "mcp-imports-only-bundled-packages",
      severity: "error",
      comment: "scripts/bundle.mjs names the packages that stand in the bundle.",
      from: { path: "^src/mcp/" },
      to: {
        dependencyTypes: ["npm", "npm-dev", "npm-peer", "npm-optional"],
        pathNot: "(^|/)node_modules/(@modelcontextprotocol/(server|core)|zod)/",
      },
    },
    {
      name: "packages-are-declared",
      severity: "error",
      comment: "package.json does not declare this package.",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "imports-resolve",
      severity: "error",
      comment: "The imported file does not exist.",
      from: { path: "^src/" },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
    },
  },
};
