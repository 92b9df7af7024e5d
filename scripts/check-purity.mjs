/**
 * Checks of src/ that the linter does not have:
 *
 * - only src/runtime/world.ts reads the clock, sets a timer or draws randomness;
 * - only src/cli/terminal-writer.ts prints, so that all output passes its filter;
 * - no module-level mutable state;
 * - in src/core/: no import from outside, nothing asynchronous, no global of the host, and nothing that depends on a
 *   locale or on Unicode tables, which differ between versions of Node.
 *
 * Tests (`*.test.ts`, `*.test-support.ts`) are exempt. The check can be evaded: it finds mistakes, not malice.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import {
  hasModifier,
  moduleOfGlobal,
  moduleSpecifierText,
  propertyNameOf,
  sourceNames,
  wordsOf,
} from "./source-names.mjs";

/** @typedef {{ path: string, line: number, column: number, rule: string, message: string }} Impurity */

const world = "src/runtime/world.ts";
const writer = "src/cli/terminal-writer.ts";
/**
 * The first two beside the writer print constant texts before anything else is loaded: an error for an old Node.js, and
 * the version. The last one speaks a protocol with a program.
 */
const printers = new Set([writer, "src/cli/main.ts", "src/cli/start.ts", "src/mcp/stdio.ts"]);
/** The last one writes to its own pipe. */
const writesToDescriptors = new Set([...printers, "src/cli/commands/run/handover.ts"]);
const printingProperties = /^(stdout|stderr|_rawDebug)$/;
const printingModules = /^(node:)?console$/;

/**
 * Properties of globals, and of modules with the same name, that read the clock, draw randomness or start a timer.
 * @type {Readonly<Record<string, RegExp>>}
 */
const impureProperties = {
  AbortSignal: /^timeout$/,
  Atomics: /^wait(Async)?$/,
  crypto: /^(random.*|getRandomValues|webcrypto)$/,
  Date: /^now$/,
  Math: /^random$/,
  process: /^(hrtime|uptime)$/,
  Temporal: /^Now$/,
};
const impureGlobals = /^(performance|setTimeout|setInterval|setImmediate)$/;
const impureModules = /^(node:)?(perf_hooks|timers|timers\/promises)$|^(uuid|uuidv7|nanoid)$/;
const hostGlobals = /^(process|Buffer|fetch|console|require|queueMicrotask|WebSocket|Worker)$/;
const localeProperties = /^(toLocale.*|localeCompare|normalize)$/;
const unicodeEscape = /\\p\{/i;
/** Protocols and transports, as whole words of identifiers and texts: `acp`, `startAcp`, `ACP_VERSION`. */
const protocolWord = new RegExp(
  ["(?<![A-Za-z])(?:mcp|acp|a2a|https?|sse)(?![a-z])", "(?:Mcp|Acp|A2a|Https?|Sse)(?![a-z])"]
    .concat("(?<![A-Z])(?:MCP|ACP|A2A|HTTPS?|SSE)(?![a-z]|[A-Z]+(?![a-z]))")
    .join("|"),
);
/** File names that contain the name of a protocol. The permission rules need them. */
const protectedFiles = new Set([".mcp.json"]);

const containers = /^(Map|Set|WeakMap|WeakSet|Array)$/;
const readonlyContainers = /^(ReadonlyMap|ReadonlySet|ReadonlyArray|Readonly)$/;

/**
 * @param {string} path from the root of the repository, with forward slashes
 * @param {string} text
 * @returns {Impurity[]}
 */
export function findImpurities(path, text) {
  if (!path.startsWith("src/") || /\.test(-support)?\.ts$/.test(path)) return [];
  const names = sourceNames(path, text);
  const { file, specifierOf, memberOf, globalNameOf, isGlobal, isHarmlessDate, writtenObject, isModuleLevel } = names;
  const inCore = path.startsWith("src/core/");
  const mayReadTheWorld = path === world;
  /** @type {Impurity[]} */
  const found = [];

  /** @type {(node: ts.Node, rule: string, message: string) => void} */
  const report = (node, rule, message) => {
    const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file));
    found.push({ path, line: line + 1, column: character + 1, rule, message });
  };

  /** @param {ts.Node} node */
  const visit = (node) => {
    if (!mayReadTheWorld) checkWorld(node);
    if (!inCore && !printers.has(path)) checkPrinting(node);
    checkModuleState(node);
    if (inCore) checkCore(node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;

  /** @param {ts.Node} node */
  function checkWorld(node) {
    const specifier = specifierOf(node);
    if (specifier !== undefined && impureModules.test(specifier)) {
      report(node, "world", `"${specifier}" reads the clock or draws randomness: use the World`);
    }
    if (ts.isImportSpecifier(node)) {
      const from = moduleOfGlobal.exec(moduleSpecifierText(node.parent.parent.parent))?.[1];
      const name = (node.propertyName ?? node.name).text;
      if (from !== undefined && impureProperties[from]?.test(name)) {
        report(node, "world", `${from}.${name}: only ${world} reads the clock or draws randomness`);
      }
    }
    const named = memberOf(node);
    if (named !== undefined && impureProperties[named.object]?.test(named.property)) {
      report(node, "world", `${named.object}.${named.property}: only ${world} reads the clock or draws randomness`);
    }
    const global = globalNameOf(node);
    if (global !== undefined && impureGlobals.test(global)) {
      report(node, "world", `${global}: only ${world} reads the clock or sets timers`);
    }
    if (global === "Date" && !isHarmlessDate(node)) {
      report(node, "world", `Date without a time: only ${world} reads the clock`);
    }
  }

  /** @param {ts.Node} node */
  function checkPrinting(node) {
    const because = `only ${writer} writes to the terminal`;
    const specifier = specifierOf(node);
    if (specifier !== undefined && printingModules.test(specifier))
      report(node, "terminal", `"${specifier}": ${because}`);
    if (ts.isImportSpecifier(node)) {
      const from = moduleSpecifierText(node.parent.parent.parent).replace(/^node:/, "");
      const name = (node.propertyName ?? node.name).text;
      const types = node.isTypeOnly || node.parent.parent.phaseModifier === ts.SyntaxKind.TypeKeyword;
      const prints =
        (from === "process" && printingProperties.test(name)) ||
        (from === "tty" && name === "WriteStream" && !types) ||
        (from === "fs" && name === "writeSync" && path.startsWith("src/cli/") && !writesToDescriptors.has(path));
      if (prints) report(node, "terminal", `${name} of "${from}": ${because}`);
    }
    const named = memberOf(node);
    if (named?.object === "process" && printingProperties.test(named.property)) {
      report(node, "terminal", `process.${named.property}: ${because}`);
    }
    if (globalNameOf(node) === "console") report(node, "terminal", `console: ${because}`);
  }

  /** @param {ts.Node} node */
  function checkModuleState(node) {
    if (ts.isVariableStatement(node) && node.parent === file) {
      const ambient = node.modifiers?.some((modifier) => modifier.kind === ts.SyntaxKind.DeclareKeyword) ?? false;
      const { flags, declarations } = node.declarationList;
      if (!ambient && (flags & ts.NodeFlags.BlockScoped) !== 0 && (flags & ts.NodeFlags.Const) === 0) {
        report(node, "module-state", "a module-level `let` is shared by all users of the module");
      } else if (!ambient && (flags & ts.NodeFlags.BlockScoped) === 0) {
        report(node, "module-state", "a module-level `var` is shared by all users of the module");
      }
      for (const { initializer, type } of declarations) checkContainer(initializer, type);
    }
    if (ts.isPropertyDeclaration(node) && hasModifier(node, ts.SyntaxKind.StaticKeyword)) {
      if (hasModifier(node, ts.SyntaxKind.ReadonlyKeyword)) checkContainer(node.initializer, node.type);
      else report(node, "module-state", "a static property that is not readonly is module-level mutable state");
    }
    const target = writtenObject(node);
    if (target !== undefined && isModuleLevel(target)) {
      report(node, "module-state", `writes to \`${target.text}\`, which is state of the module`);
    }
  }

  /**
   * Reports a module-level container unless its type is read-only.
   * @type {(initializer: ts.Expression | undefined, type: ts.TypeNode | undefined) => void}
   */
  function checkContainer(initializer, type) {
    if (initializer === undefined || !ts.isNewExpression(initializer)) return;
    const name = globalNameOf(initializer.expression);
    if (name === undefined || !containers.test(name)) return;
    if (type !== undefined && ts.isTypeReferenceNode(type) && readonlyContainers.test(type.typeName.getText(file)))
      return;
    if (type !== undefined && ts.isTypeOperatorNode(type)) return;
    report(
      initializer,
      "module-state",
      `a module-level ${name} needs a read-only type (Readonly${name}<…>), or an owner`,
    );
  }

  /** @param {ts.Node} node */
  function checkCore(node) {
    const specifier = specifierOf(node);
    if (specifier !== undefined) {
      const target = posix.join(posix.dirname(path), specifier);
      if (!specifier.startsWith(".") || !target.startsWith("src/core/")) {
        report(node, "core-imports", `"${specifier}": core imports nothing outside core`);
      }
    }
    const isAsync = ts.canHaveModifiers(node) && hasModifier(node, ts.SyntaxKind.AsyncKeyword);
    const isPromise = ts.isIdentifier(node) && /^Promise(Like)?$/.test(node.text) && isGlobal(node);
    if (isAsync || isPromise || ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier)) {
      report(node, "core-async", "core is synchronous: no async, no await, no Promise");
    }
    const global = globalNameOf(node);
    if (global !== undefined && hostGlobals.test(global)) {
      report(node, "core-host", `${global} belongs to the host: core may not use it`);
    }
    if (ts.isIdentifier(node) && node.text === "Intl" && isGlobal(node)) {
      report(node, "core-locale", "Intl depends on the locale and on the version of Node");
    }
    const word = wordsOf(node);
    if (protocolWord.test(word) && !protectedFiles.has(word)) {
      report(node, "core-protocol", `"${word}": core knows no protocol and no transport`);
    }
    const property = propertyNameOf(node);
    if (property !== undefined && localeProperties.test(property)) {
      report(node, "core-locale", `${property} depends on the locale or on Unicode tables`);
    }
    if (ts.isRegularExpressionLiteral(node) && unicodeEscape.test(node.text)) {
      report(node, "core-unicode", "\\p{…} depends on the Unicode tables of the version of Node");
    }
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && globalNameOf(node.expression) === "RegExp") {
      if (node.arguments?.some((argument) => unicodeEscape.test(argument.getText(file)))) {
        report(node, "core-unicode", "\\p{…} depends on the Unicode tables of the version of Node");
      }
    }
  }
}

/**
 * @param {string} root
 * @returns {{ files: number, impurities: Impurity[] }}
 */
export function checkSources(root) {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((name) => `src/${name.split(sep).join("/")}`)
    .filter((name) => name.endsWith(".ts"))
    .toSorted();
  return {
    files: files.length,
    impurities: files.flatMap((path) => findImpurities(path, readFileSync(join(root, path), "utf8"))),
  };
}

const self = fileURLToPath(import.meta.url);
if (process.argv[1] !== undefined && relative(process.argv[1], self) === "") {
  const { files, impurities } = checkSources(dirname(dirname(self)));
  for (const { path, line, column, rule, message } of impurities) {
    console.error(`${path}:${line}:${column}  ${rule}  ${message}`);
  }
  console.log(`${files} files, ${impurities.length} impurities`);
  process.exitCode = impurities.length === 0 ? 0 : 1;
}
