/** The declarations that the package ships: a user can name every type that a public signature names. */

import { join } from "node:path";
import ts from "typescript";
import { expect, expectTypeOf, test } from "vitest";
import type { Errand, Json, StoredRun, StreamOptions, TreeRecord } from "../../src/index.ts";
import { ROOT } from "../architecture/source-files.ts";

const ENTRIES = ["index", "core/text/index", "testing/index"];
/** Emitting takes 12 s on an idle machine. */
const PATIENCE_MS = 300_000;

/** The declarations as `npm run build` writes them, by their paths. */
function emitDeclarations(sources: readonly string[]): ReadonlyMap<string, string> {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined };
  const config = ts.getParsedCommandLineOfConfigFile(join(ROOT, "tsconfig.build.json"), {}, host);
  if (config === undefined) throw new Error("tsconfig.build.json cannot be read");
  const files = new Map<string, string>();
  const program = ts.createProgram(sources, config.options);
  program.emit(undefined, (path, text) => files.set(path, text), undefined, true);
  return files;
}

/** A program of these declarations alone. */
function programOf(files: ReadonlyMap<string, string>, roots: readonly string[]): ts.Program {
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  };
  const disk = ts.createCompilerHost(options);
  return ts.createProgram(roots, options, {
    ...disk,
    directoryExists: () => true,
    fileExists: (path) => files.has(path) || disk.fileExists(path),
    readFile: (path) => files.get(path) ?? disk.readFile(path),
    getSourceFile(path, version) {
      const text = files.get(path);
      return text === undefined ? disk.getSourceFile(path, version) : ts.createSourceFile(path, text, version, true);
    },
  });
}

/** Names of types that exported declarations name and no entry exports, each with the export that names it. */
function unexported(program: ts.Program, files: ReadonlyMap<string, string>, roots: readonly string[]) {
  const checker = program.getTypeChecker();
  const real = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exported = new Set(
    roots.flatMap((root) => {
      const source = program.getSourceFile(root);
      const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
      return module === undefined ? [] : checker.getExportsOfModule(module).map(real);
    }),
  );
  const missing = new Set<string>();
  let named = 0;

  function nameIn(node: ts.Node): ts.Node | null {
    if (ts.isTypeReferenceNode(node)) return node.typeName;
    if (ts.isTypeQueryNode(node)) return node.exprName;
    return ts.isExpressionWithTypeArguments(node) ? node.expression : null;
  }

  function visit(node: ts.Node, within: string): void {
    const name = nameIn(node);
    const found = name === null ? undefined : checker.getSymbolAtLocation(name);
    const symbol = found === undefined ? undefined : real(found);
    const own = symbol?.declarations?.some((declaration) => files.has(declaration.getSourceFile().fileName)) === true;
    if (symbol !== undefined && own && !(symbol.flags & ts.SymbolFlags.TypeParameter)) {
      named += 1;
      if (!exported.has(symbol)) missing.add(`${symbol.name}, which ${within} names`);
    }
    ts.forEachChild(node, (child) => visit(child, within));
  }

  for (const symbol of exported) for (const declaration of symbol.declarations ?? []) visit(declaration, symbol.name);
  return { missing: [...missing].toSorted(), named, exported: exported.size };
}

test(
  "every type that an exported signature names is exported",
  () => {
    const files = emitDeclarations(ENTRIES.map((entry) => join(ROOT, "src", `${entry}.ts`)));
    const roots = ENTRIES.map((entry) => join(ROOT, "dist", `${entry}.d.ts`));
    const { missing, named, exported } = unexported(programOf(files, roots), files, roots);
    // The declarations were found and read.
    expect(exported).toBeGreaterThan(150);
    expect(named).toBeGreaterThan(exported);
    expect(missing).toEqual([]);
  },
  PATIENCE_MS,
);

test("ids are plain strings: none needs a cast", () => {
  expectTypeOf<string>().toExtend<TreeRecord["id"]>();
  expectTypeOf<string>().toExtend<StoredRun["tree"]>();
  expectTypeOf<string>().toExtend<Parameters<Errand["getRun"]>[0]>();
  expectTypeOf<{ before: string }>().toExtend<NonNullable<Parameters<Errand["listTrees"]>[0]>>();
  expectTypeOf<StoredRun["error"]>().toEqualTypeOf<string | null>();
  expectTypeOf<{ data: Json; key: string }>().toExtend<StreamOptions>();
});
