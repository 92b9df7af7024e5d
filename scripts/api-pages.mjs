/**
 * The API reference, made from the comments and declarations of what the package exports: one page for each area.
 *
 * Invariants:
 *  1. Every exported name is on exactly one page and has a comment. Types that are named and not exported are shown.
 *  2. The pages follow from the sources alone, so a test can compare them with what is committed.
 */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { AREAS, ENTRIES } from "./api-areas.mjs";
import { root } from "./setup.mjs";

/**
 * @typedef {{
 *   name: string,
 *   entry: string,
 *   source: string,
 *   comment: string,
 *   declarations: readonly ts.Declaration[],
 *   names: ReadonlyMap<string, ts.Declaration>,
 * }} Exported
 */

export const FOLDER = "docs/reference/api";
const NOTE = "<!-- Made by `npm run docs:api`. Change the comments in src/ instead. -->";

/**
 * The pages by their paths, and what is wrong with the exports.
 * @returns {{ pages: Map<string, string>, problems: string[] }}
 */
export function apiPages() {
  const program = createProgram();
  const exported = ENTRIES.flatMap((entry) => exportsOf(program, entry));
  const pageOf = new Map(exported.map((one) => [one.name, areaOf(one)?.file ?? ""]));
  const problems = exported.flatMap((one) => [
    ...(pageOf.get(one.name) === "" ? [`${one.name} (${one.source}) is on no page of scripts/api-areas.mjs`] : []),
    ...(one.comment === "" ? [`${one.name} (${one.source}) has no comment`] : []),
  ]);
  /** @type {Map<string, string>} */
  const pages = new Map();
  for (const area of AREAS) {
    const names = inOrder(
      exported.filter(({ name }) => pageOf.get(name) === area.file),
      area.first,
    );
    for (const name of area.first)
      if (!names.some((one) => one.name === name)) problems.push(`${name} is not on the page ${area.file}`);
    const sections = [...names.map((one) => section(one, area.file, pageOf)), ...otherTypes(names, pageOf)];
    pages.set(join(FOLDER, area.file), `# ${area.title}\n\n${NOTE}\n\n${area.about}\n\n${sections.join("\n")}`);
  }
  pages.set(join(FOLDER, "README.md"), indexPage(pageOf));
  return { pages, problems };
}

/** @param {Exported} one */
function areaOf({ source }) {
  const places = AREAS.flatMap(({ sources, ...area }) => sources.map((path) => ({ path, ...area })));
  return places
    .filter(({ path }) => source.startsWith(path))
    .toSorted((a, b) => b.path.length - a.path.length)
    .at(0);
}

/**
 * @param {readonly Exported[]} exported
 * @param {readonly string[]} first
 */
function inOrder(exported, first) {
  /** @param {Exported} one */
  const place = ({ name }) => (first.includes(name) ? first.indexOf(name) : first.length);
  return exported.toSorted((a, b) => place(a) - place(b) || (a.name < b.name ? -1 : 1));
}

function createProgram() {
  const config = ts.readConfigFile(join(root, "tsconfig.json"), (path) => readFileSync(path, "utf8"));
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
  return ts.createProgram(
    ENTRIES.map(({ source }) => join(root, source)),
    options,
  );
}

/**
 * @param {ts.Program} program
 * @param {{ source: string, name: string }} entry
 * @returns {Exported[]}
 */
function exportsOf(program, { source, name: entry }) {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(join(root, source));
  const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${source} exports nothing`);
  return checker.getExportsOfModule(module).map((symbol) => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const declarations = target.declarations ?? [];
    const [declaration] = declarations;
    if (declaration === undefined) throw new Error(`${symbol.name} has no declaration`);
    const path = relative(root, declaration.getSourceFile().fileName);
    const names = namesIn(declarations, checker);
    return { name: symbol.name, entry, source: path, comment: commentOf(declaration), declarations, names };
  });
}

/**
 * The types of this project that the declarations name.
 * @param {readonly ts.Declaration[]} declarations
 * @param {ts.TypeChecker} checker
 */
function namesIn(declarations, checker) {
  /** @type {Map<string, ts.Declaration>} */
  const found = new Map();
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      for (const part of [...node.parameters, ...(node.typeParameters ?? [])]) visit(part);
      if (node.type !== undefined) visit(node.type);
      return;
    }
    const named = ts.isTypeReferenceNode(node)
      ? node.typeName
      : ts.isExpressionWithTypeArguments(node)
        ? node.expression
        : null;
    const symbol = named === null ? undefined : checker.getSymbolAtLocation(named);
    const target =
      symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const [declaration] = target?.declarations ?? [];
    if (target !== undefined && declaration !== undefined && !ts.isTypeParameterDeclaration(declaration)) {
      const source = relative(root, declaration.getSourceFile().fileName);
      if (source.startsWith("src/")) found.set(target.name, declaration);
    }
    ts.forEachChild(node, visit);
  };
  for (const declaration of declarations) visit(declaration);
  return found;
}

/**
 * @param {Exported} one
 * @param {string} page
 * @param {ReadonlyMap<string, string>} pageOf
 */
function section({ name, entry, comment, declarations, names }, page, pageOf) {
  const texts = declarations.map(declarationText);
  const links = [...names.keys()].flatMap((other) => {
    const file = pageOf.get(other);
    if (file === undefined || other === name) return [];
    return [`[\`${other}\`](${file === page ? "" : file}#${other.toLowerCase()})`];
  });
  const from = entry === "errand" ? "" : `From \`${entry}\`. `;
  return [
    `## ${name}\n`,
    `${from}${comment}\n`,
    `\`\`\`ts\n${texts.join("\n\n")}\n\`\`\`\n`,
    ...(links.length === 0 ? [] : [`Names: ${links.join(" · ")}\n`]),
  ].join("\n");
}

/**
 * Types that declarations of a page name and that cannot be imported.
 * @param {readonly Exported[]} shown
 * @param {ReadonlyMap<string, string>} pageOf
 */
function otherTypes(shown, pageOf) {
  const named = new Map(shown.flatMap(({ names }) => [...names]).filter(([name]) => !pageOf.has(name)));
  if (named.size === 0) return [];
  const texts = [...named]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, declaration]) => describedText(declaration));
  return [
    `## Other types\n\nTypes that are named above, and need no import.\n\n\`\`\`ts\n${texts.join("\n\n")}\n\`\`\`\n`,
  ];
}

/** @param {ts.Declaration} declaration */
function describedText(declaration) {
  const comment = commentOf(declaration);
  const lines = comment === "" ? [] : ["/**", ...comment.split("\n").map((line) => ` * ${line}`.trimEnd()), " */"];
  return [...lines, declarationText(declaration)].join("\n");
}

/** The comment before a declaration, as one paragraph for each of its own. @param {ts.Declaration} declaration */
function commentOf(declaration) {
  const owner = ownerOf(declaration);
  return ts
    .getJSDocCommentsAndTags(owner)
    .filter(ts.isJSDoc)
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "")
    .join("\n\n")
    .trim();
}

/** A constant's comment is before its statement. @param {ts.Declaration} declaration @returns {ts.Node} */
function ownerOf(declaration) {
  return ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
}

/** The declaration as source, without bodies, values and its own comment. @param {ts.Declaration} declaration */
function declarationText(declaration) {
  const file = declaration.getSourceFile();
  const owner = ownerOf(declaration);
  const cut = cutsOf(owner, file);
  let text = "";
  let at = owner.getStart(file);
  for (const { from, to, by } of cut) {
    text += file.text.slice(at, from) + by;
    at = to;
  }
  text += file.text.slice(at, owner.getEnd());
  return text.replace(/^export (?:declare )?/, "").trimEnd();
}

/**
 * The parts of a declaration that are not shown: bodies of functions, and values that a type describes.
 * @param {ts.Node} owner
 * @param {ts.SourceFile} file
 */
function cutsOf(owner, file) {
  /** @type {{ from: number, to: number, by: string }[]} */
  const cuts = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    const body = ts.isFunctionLike(node) && "body" in node ? /** @type {ts.Node | undefined} */ (node.body) : undefined;
    if (body !== undefined && ts.isBlock(body)) {
      cuts.push({ from: body.getFullStart(), to: body.getEnd(), by: ";" });
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(owner);
  return cuts.toSorted((a, b) => a.from - b.from).filter(({ from }) => from >= owner.getStart(file));
}

/** @param {ReadonlyMap<string, string>} pageOf */
function indexPage(pageOf) {
  const rows = AREAS.map(({ file, title, first }) => {
    const more = [...pageOf.values()].filter((page) => page === file).length > first.length;
    return `| [${title}](${file}) | ${first.map((name) => `\`${name}\``).join(", ")}${more ? ", …" : ""} |`;
  });
  return [
    `# API\n\n${NOTE}\n`,
    "Everything that the package exports, with its comments. Begin with the [guide](../../guide/library.md).\n",
    `| page | names |\n|---|---|\n${rows.join("\n")}\n`,
  ].join("\n");
}
