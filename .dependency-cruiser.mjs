/**
 * The layers of src/, as rules. A lower number never imports a higher one; folders of the same number never import each
 * other; type-only imports count. A folder that is not listed here may not exist: give it a number first.
 */
const layers = [
  ["core", "errors.ts", "watchdog.ts", "periodic-duty.ts"],
  ["contracts", "plain-json.ts"],
  ["models", "tools", "runners", "stores", "definitions", "view"],
  ["runtime", "testing"],
  ["mcp", "server", "cli"],
];
/** The folders that the runtime is given. `view` only reads what it is handed, so every higher layer may import it. */
const adapters = layers[2]?.filter((name) => name !== "view") ?? [];

/** A module's place in src/: a folder, or a file of its own. @param {string} name */
const place = (name) => (name.endsWith(".ts") ? `${name.replace(".", "\\.")}$` : `${name}/`);
/** @param {readonly string[]} names */
const inside = (names) => `^src/(${names.map(place).join("|")})`;
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
      comment: "Folders of the same number never import each other: what they share belongs below them.",
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
      comment: "core is pure: not even errors.ts, no package, no built-in module.",
      from: { path: "^src/core/", pathNot: tests },
      to: { pathNot: "^src/core/", couldNotResolve: false },
    },
    {
      name: "core-tests-import-only-core-and-test-tools",
      severity: "error",
      comment: "A test of core needs core, vitest, fast-check and built-in modules; a wider one belongs in test/.",
      from: { path: `^src/core/.*${tests}` },
      to: {
        pathNot: ["^src/core/", "(^|/)node_modules/(vitest|fast-check|@fast-check/vitest)/"],
        dependencyTypesNot: ["core"],
      },
    },
    {
      name: "only-create-runtime-sees-adapters",
      severity: "error",
      comment:
        "The runtime is given its adapters; runtime/create-runtime.ts composes them. The transports ask the runtime.",
      from: { path: inside(["runtime", "mcp", "server"]), pathNot: ["^src/runtime/create-runtime\\.ts$", tests] },
      to: { path: inside(adapters) },
    },
    {
      name: "every-folder-has-a-layer",
      severity: "error",
      comment: "A folder of src/ without a number: add it to the layers.",
      from: { path: "^src/", pathNot: [inside(everywhere), "^src/[^/]+\\.test\\.ts$"] },
      to: {},
    },
    {
      name: "every-imported-folder-has-a-layer",
      severity: "error",
      comment: "A folder of src/ without a number: add it to the layers.",
      from: {},
      to: { path: "^src/", pathNot: inside(everywhere) },
    },
    {
      name: "no-cycles",
      severity: "error",
      comment: "Two files that need each other are one concept, or miss a third.",
      from: { path: "^src/" },
      to: { circular: true },
    },
    {
      name: "sources-import-only-sources",
      severity: "error",
      comment: "src/ is what is published: it knows nothing of the rest of the repository.",
      from: { path: "^src/" },
      to: { pathNot: ["^src/", "(^|/)node_modules/"], dependencyTypes: ["local"] },
    },
    {
      name: "sources-import-no-tests",
      severity: "error",
      comment: "What two tests share is a file of its own.",
      from: { path: "^src/" },
      to: { path: "\\.test\\.ts$" },
    },
    {
      name: "sources-import-no-test-support",
      severity: "error",
      comment: "Test support is for tests: it is not published.",
      from: { path: "^src/", pathNot: tests },
      to: { path: tests },
    },
    {
      name: "sources-import-no-dev-dependencies",
      severity: "error",
      comment: "Whoever installs the package does not get its devDependencies.",
      from: { path: "^src/", pathNot: tests },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["npm-peer", "npm-optional"] },
    },
    {
      name: "packages-are-declared",
      severity: "error",
      comment: "A package that only happens to be there.",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "imports-resolve",
      severity: "error",
      comment: "What is imported is not there.",
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
