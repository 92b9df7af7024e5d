/**
 * What the names in one file of the sources refer to: modules, globals, members of globals, constants of the module.
 *
 * It reads one file and resolves names within it, so a local variable called `performance` is no clock. It does not
 * follow a value into another function.
 */
import ts from "typescript";

/** Modules that export the same as a global. */
export const moduleOfGlobal = /^(?:node:)?(crypto|process)$/;

const mutators =
  /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|getOrInsert|getOrInsertComputed)$/;
const objectMutators = /^(assign|defineProperty|defineProperties|setPrototypeOf)$/;

/**
 * @param {string} path
 * @param {string} text
 */
export function sourceNames(path, text) {
  const { file, checker } = parse(path, text);
  return { file, specifierOf, memberOf, globalNameOf, isGlobal, isHarmlessDate, writtenObject, isModuleLevel };

  /** The module of an import, a re-export, an `import()` or an import type. @param {ts.Node} node */
  function specifierOf(node) {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return moduleSpecifierText(node) || undefined;
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      return node.argument.literal.text;
    }
    if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) return undefined;
    const [argument] = node.arguments;
    return argument !== undefined && ts.isStringLiteralLike(argument) ? argument.text : undefined;
  }

  /** `object.property`, if the object is a global or a whole module. @param {ts.Node} node */
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

  /** The global that a value refers to: `Date`, `globalThis.Date`, `globalThis["Date"]`. @param {ts.Node} node */
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

  /**
   * The identifier at the root of what a node writes to: `a` in `a.b.c = 1`, `delete a[0]`, `a.push(1)`.
   * @param {ts.Node} node
   */
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
    // A /g or /y expression stores its position.
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

  /**
   * True for a module-level constant, an import from a file beside it, and the global object.
   * @param {ts.Identifier} identifier
   */
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

  /** True if nothing in this file declares it. @param {ts.Identifier} identifier */
  function isGlobal(identifier) {
    const symbol = ts.isShorthandPropertyAssignment(identifier.parent)
      ? checker.getShorthandAssignmentValueSymbol(identifier.parent)
      : checker.getSymbolAtLocation(identifier);
    return (symbol?.declarations ?? []).length === 0;
  }
}

/**
 * Parses a program of one file, without libraries. A name that the file does not declare is a global.
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
export function propertyNameOf(node) {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return node.argumentExpression.text;
  }
  return undefined;
}

/** The text of an identifier, a string or a piece of a template; imports are strings too. @param {ts.Node} node */
export function wordsOf(node) {
  const named = ts.isIdentifier(node) || ts.isPrivateIdentifier(node) || ts.isStringLiteralLike(node);
  return named || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node) ? node.text : "";
}

/** @param {ts.Node} node */
export function moduleSpecifierText(node) {
  const declares = ts.isImportDeclaration(node) || ts.isExportDeclaration(node);
  const specifier = declares ? node.moduleSpecifier : undefined;
  return specifier !== undefined && ts.isStringLiteral(specifier) ? specifier.text : "";
}

/** @type {(node: ts.Node, kind: ts.SyntaxKind) => boolean} */
export function hasModifier(node, kind) {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === kind);
}

/**
 * The identifier `a` of `a.b.c`; undefined for `a` itself, because the compiler checks plain assignments.
 * @param {ts.Expression} target
 */
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

/**
 * True if the identifier is read as a value. False for the name of a property, a parameter or a type.
 * @param {ts.Identifier} node
 */
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
