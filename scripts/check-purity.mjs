/**
 * What the linter cannot say about src/:
 *
 * - everywhere but in src/runtime/world.ts: nothing reads the clock, sets a timer or draws randomness;
 * - everywhere but in src/cli/terminal-writer.ts: nothing prints, so that what is printed passes its filter;
 * - everywhere: no module-level mutable state;
 * - in src/core/: no import from outside, nothing asynchronous, nothing of the host, nothing that depends on a
 *   locale or on Unicode tables, which differ between versions of Node, and no word of a protocol or a transport.
 *
 * Tests (`*.test.ts`, `*.test-support.ts`) are free. It reads one file at a time and resolves names within it, so a local variable called
 * `performance` is no clock; it does not follow a value into another function, and is no proof, only a fence.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** @typedef {{ path: string, line: number, column: number, rule: string, message: string }} Impurity */

const world = "src/runtime/world.ts";
const writer = "src/cli/terminal-writer.ts";
/** These print constant texts before anything else is loaded: that Node.js is too old, and the version. */
const printers = new Set([writer, "src/cli/main.ts", "src/cli/start.ts"]);
/** This one writes to a pipe of its own. */
const writesToDescriptors = new Set([...printers, "src/cli/background/starting-word.ts"]);
const printingProperties = /^(stdout|stderr|_rawDebug)$/;
const printingModules = /^(node:)?console$/;

/** Properties of globals (and of the modules of the same name) that read the clock or draw randomness, or start a timer. */
/** @type {Readonly<Record<string, RegExp>>} */
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
/** Modules whose exports are those of a global above. */
const moduleOfGlobal = /^(?:node:)?(crypto|process)$/;

const hostGlobals = /^(process|Buffer|fetch|console|require|queueMicrotask|WebSocket|Worker)$/;
const localeProperties = /^(toLocale.*|localeCompare|normalize)$/;
const unicodeEscape = /\\p\{/i;
/** Protocols and transports, as whole words of identifiers and texts: `acp`, `startAcp`, `ACP_VERSION`, `HttpServer`. */
const protocolWord = new RegExp(
  ["(?<![A-Za-z])(?:mcp|acp|a2a|https?|sse)(?![a-z])", "(?:Mcp|Acp|A2a|Https?|Sse)(?![a-z])"]
    .concat("(?<![A-Z])(?:MCP|ACP|A2A|HTTPS?|SSE)(?![a-z]|[A-Z]+(?![a-z]))")
    .join("|"),
);
/** The name of a file that another program reads, which the rules protect, is not the word of a protocol. */
const protectedFiles = new Set([".mcp.json"]);

const containers = /^(Map|Set|WeakMap|WeakSet|Array)$/;
const readonlyContainers = /^(ReadonlyMap|ReadonlySet|ReadonlyArray|Readonly)$/;
const mutators =
  /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|getOrInsert|getOrInsertComputed)$/;
const objectMutators = /^(assign|defineProperty|defineProperties|setPrototypeOf)$/;

/**
 * @param {string} path from the root of the repository, with forward slashes
 * @param {string} text
 * @returns {Impurity[]}
 */
export function findImpurities(path, text) {
  if (!path.startsWith("src/") || /\.test(-support)?\.ts$/.test(path)) return [];
  const { file, checker } = parse(path, text);
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
      report(node, "world", `"${specifier}" is a door to the clock or to randomness: take them from the World`);
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
      report(node, "module-state", `writes to \`${target.text}\`, which belongs to the module and outlives the call`);
    }
  }

  /**
   * A container of a read-only type cannot be written to, says the compiler; any other is there to be written to.
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
      report(node, "core-host", `${global} belongs to the host: core knows nothing of it`);
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

  /** The module that an import, a re-export, an `import()` or an import type names. @param {ts.Node} node */
  function specifierOf(node) {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return moduleSpecifierText(node) || undefined;
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      return node.argument.literal.text;
    }
    if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) return undefined;
    const [argument] = node.arguments;
    return argument !== undefined && ts.isStringLiteralLike(argument) ? argument.text : undefined;
  }

  /** `object.property`, where the object is a global or a module as a whole. @param {ts.Node} node */
  function memberOf(node) {
    if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
      const declaration = node.parent.parent;
      if (!ts.isVariableDeclaration(declaration) || declaration.initializer === undefined) return undefined;
      const object = objectNameOf(declaration.initializer);
      const name = node.propertyName ?? node.name;
      return object !== undefined && ts.isIdentifier(name) ? { object, property: name.text } : undefined;
    }
    const property = propertyNameOf(node);
    if (property === undefined) return undefined;
    const object = objectNameOf(/** @type {ts.PropertyAccessExpression} */ (node).expression);
    return object === undefined ? undefined : { object, property };
  }

  /** @param {ts.Expression} expression */
  function objectNameOf(expression) {
    const global = globalNameOf(expression);
    if (global !== undefined) return global;
    if (!ts.isIdentifier(expression)) return undefined;
    const declaration = declarationOf(expression);
    if (declaration === undefined || !(ts.isImportClause(declaration) || ts.isNamespaceImport(declaration)))
      return undefined;
    const clause = ts.isImportClause(declaration) ? declaration : declaration.parent;
    return moduleOfGlobal.exec(moduleSpecifierText(clause.parent))?.[1];
  }

  /** The name of a global that a value names: `Date`, `globalThis.Date`, `globalThis["Date"]`. @param {ts.Node} node */
  function globalNameOf(node) {
    if (ts.isIdentifier(node)) return isValue(node) && isGlobal(node) ? node.text : undefined;
    const property = propertyNameOf(node);
    if (property === undefined) return undefined;
    const { expression } = /** @type {ts.PropertyAccessExpression} */ (node);
    const isGlobalObject =
      ts.isIdentifier(expression) && /^(globalThis|global)$/.test(expression.text) && isGlobal(expression);
    return isGlobalObject ? property : undefined;
  }

  /** `new Date(time)`, `Date.UTC(…)`, `x instanceof Date`. @param {ts.Node} node */
  function isHarmlessDate(node) {
    const { parent } = node;
    if (ts.isNewExpression(parent) && parent.expression === node) return (parent.arguments?.length ?? 0) > 0;
    if (ts.isBinaryExpression(parent)) return parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword;
    return propertyNameOf(parent) !== undefined || ts.isVariableDeclaration(parent);
  }

  /** The identifier at the root of what a node writes to: `a` in `a.b.c = 1`, `delete a[0]`, `a.push(1)`. @param {ts.Node} node */
  function writtenObject(node) {
    if (ts.isBinaryExpression(node)) {
      const { kind } = node.operatorToken;
      const assigns = kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
      return assigns ? rootOfMember(node.left) : undefined;
    }
    if (ts.isDeleteExpression(node)) return rootOfMember(node.expression);
    if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
      const { operator } = node;
      const steps = operator === ts.SyntaxKind.PlusPlusToken || operator === ts.SyntaxKind.MinusMinusToken;
      return steps ? rootOfMember(node.operand) : undefined;
    }
    if (!ts.isCallExpression(node)) return undefined;
    const method = propertyNameOf(node.expression);
    if (method === undefined) return undefined;
    const receiver = /** @type {ts.PropertyAccessExpression} */ (node.expression).expression;
    if (objectMutators.test(method) && /^(Object|Reflect)$/.test(globalNameOf(receiver) ?? "")) {
      const [target] = node.arguments;
      return target === undefined ? undefined : rootOf(target);
    }
    if (mutators.test(method)) return rootOf(receiver);
    // A /g or /y expression remembers where it stopped.
    return /^(exec|test)$/.test(method) && ts.isIdentifier(receiver) && isSticky(receiver) ? receiver : undefined;
  }

  /** @param {ts.Identifier} identifier */
  function isSticky(identifier) {
    const declaration = declarationOf(identifier);
    const initializer = declaration && ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined;
    return (
      initializer !== undefined && ts.isRegularExpressionLiteral(initializer) && /[gy][a-z]*$/.test(initializer.text)
    );
  }

  /** A module-level constant, something imported from a neighbour, or the global object. @param {ts.Identifier} identifier */
  function isModuleLevel(identifier) {
    if (isGlobal(identifier)) return /^(globalThis|global)$/.test(identifier.text);
    const declaration = declarationOf(identifier);
    if (declaration === undefined) return false;
    if (ts.isVariableDeclaration(declaration)) return declaration.parent.parent.parent === file;
    if (ts.isClassDeclaration(declaration) || ts.isFunctionDeclaration(declaration)) return declaration.parent === file;
    if (!ts.isImportSpecifier(declaration)) return false;
    return moduleSpecifierText(declaration.parent.parent.parent).startsWith(".");
  }

  /** @param {ts.Identifier} identifier */
  function declarationOf(identifier) {
    return checker.getSymbolAtLocation(identifier)?.declarations?.[0];
  }

  /** Nothing in this file declares it. @param {ts.Identifier} identifier */
  function isGlobal(identifier) {
    const symbol = ts.isShorthandPropertyAssignment(identifier.parent)
      ? checker.getShorthandAssignmentValueSymbol(identifier.parent)
      : checker.getSymbolAtLocation(identifier);
    return (symbol?.declarations ?? []).length === 0;
  }
}

/**
 * A program of one file, without libraries: a name that nothing in the file declares is a global.
 * @type {(path: string, text: string) => { file: ts.SourceFile, checker: ts.TypeChecker }}
 */
function parse(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true, ts.ScriptKind.TS);
  /** @type {ts.CompilerHost} */
  const host = {
    getSourceFile: (name) => (name === path ? file : undefined),
    getDefaultLibFileName: () => "",
    writeFile: () => {},
    getCurrentDirectory: () => "",
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
    fileExists: (name) => name === path,
    readFile: () => undefined,
  };
  const options = {
    noLib: true,
    noResolve: true,
    types: [],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
  };
  return { file, checker: ts.createProgram([path], options, host).getTypeChecker() };
}

/** @param {ts.Node} node */
function propertyNameOf(node) {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return node.argumentExpression.text;
  }
  return undefined;
}

/** The text of an identifier, a string or a piece of a template; imports are strings too. @param {ts.Node} node */
function wordsOf(node) {
  const named = ts.isIdentifier(node) || ts.isPrivateIdentifier(node) || ts.isStringLiteralLike(node);
  return named || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node) ? node.text : "";
}

/** @param {ts.Node} node */
function moduleSpecifierText(node) {
  const declares = ts.isImportDeclaration(node) || ts.isExportDeclaration(node);
  const specifier = declares ? node.moduleSpecifier : undefined;
  return specifier !== undefined && ts.isStringLiteral(specifier) ? specifier.text : "";
}

/** @type {(node: ts.Node, kind: ts.SyntaxKind) => boolean} */
function hasModifier(node, kind) {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === kind);
}

/** The identifier in the value `a.b.c`, none for `a` itself: a plain assignment is the business of `const`. @param {ts.Expression} target */
function rootOfMember(target) {
  return ts.isIdentifier(target) ? undefined : rootOf(target);
}

/** @type {(target: ts.Expression) => ts.Identifier | undefined} */
function rootOf(target) {
  if (ts.isIdentifier(target)) return target;
  if (ts.isPropertyAccessExpression(target) || ts.isElementAccessExpression(target)) return rootOf(target.expression);
  if (ts.isNonNullExpression(target) || ts.isParenthesizedExpression(target) || ts.isAsExpression(target)) {
    return rootOf(target.expression);
  }
  return undefined;
}

/** An identifier that is read as a value: not a property's, a parameter's or a type's name. @param {ts.Identifier} node */
function isValue(node) {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isVariableDeclaration(parent) || ts.isParameter(parent)) return parent.initializer === node;
  if (ts.isPropertyDeclaration(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isEnumMember(parent) || ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return false;
  if (ts.isTypeNode(parent) || ts.isTypeElement(parent) || ts.isQualifiedName(parent)) return false;
  if (ts.isTypeParameterDeclaration(parent) || ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent))
    return false;
  return !((ts.isClassElement(parent) || ts.isObjectLiteralElement(parent)) && parent.name === node);
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
