/**
 * Owns the reading of a project's own definitions: agents, skills and AGENTS.md, in the forms of several programs.
 *
 * Invariants:
 *  1. Nothing throws, whatever the files are: what cannot be used is a warning that names the file and, where known, the line.
 *  2. Every file that was looked at is a source, also the one that came to nothing.
 *  3. Of two of one name the nearer wins: the project before the home folder, Errand's files before other programs'. The other gets
 *     a warning that names the winner.
 *  4. Nothing is acted on. What asks for commands, hooks, servers or base URLs is marked as needing trust.
 */

import { basename } from "node:path";
import { type FoundDefinition, readAgent, type Warning } from "./agent-file.ts";
import { builtInDefinitions } from "./built-in.ts";
import { AGENT_CONVENTIONS, type Convention, SKILL_FOLDERS } from "./conventions.ts";
import { fieldsOf, type Problem } from "./fields.ts";
import { namesIn, pathIn, readText } from "./folder-files.ts";
import { readFrontmatter } from "./frontmatter.ts";
import { trustReasons } from "./needs-trust.ts";
import { parseSkill, type Skill } from "./skill.ts";
import { ERRAND_TOOLS, mapTools } from "./tool-names.ts";
import { readToml } from "./toml.ts";

export interface FoundSkill extends Skill {
  readonly needsTrust: boolean;
  readonly trustFor: readonly string[];
}

/** A file that was looked at. */
export interface DefinitionSource {
  readonly path: string;
  readonly kind: "agent" | "skill" | "context";
  /** The program whose convention it follows: `errand`, `claude`, `gemini`, … */
  readonly program: string;
  readonly place: "project" | "home";
  /** The name it gave, if it is in use. */
  readonly name: string | null;
  readonly needsTrust: boolean;
  readonly warnings: readonly Warning[];
}

export interface ReadDefinitions {
  readonly definitions: readonly FoundDefinition[];
  readonly skills: readonly FoundSkill[];
  /** The project's AGENTS.md. */
  readonly context: { readonly path: string; readonly text: string; readonly cut: boolean } | null;
  readonly sources: readonly DefinitionSource[];
}

export interface ReadDefinitionsOptions {
  readonly folder: string;
  /** The user's home folder, when its definitions are wanted too. */
  readonly home?: string;
  /** The tools that are installed. Default: those of the workspace. */
  readonly toolNames?: readonly string[];
}

const FILE_BYTES = 256 * 1024;
const CONTEXT_BYTES = 64 * 1024;

type Place = "project" | "home";
type Made<T> = { readonly made: T; readonly warnings: readonly Warning[] } | Problem;

export async function readDefinitions(options: ReadDefinitionsOptions): Promise<ReadDefinitions> {
  const toolNames = options.toolNames ?? ERRAND_TOOLS;
  const sources: DefinitionSource[] = [];
  const definitions = new Map<string, { readonly found: FoundDefinition; readonly path: string }>();
  const skills = new Map<string, { readonly found: FoundSkill; readonly path: string }>();
  const places: readonly (readonly [Place, string])[] = [
    ["project", options.folder],
    ...(options.home === undefined || options.home === options.folder ? [] : [["home", options.home] as const]),
  ];

  function keep<T extends FoundDefinition | FoundSkill>(
    all: Map<string, { readonly found: T; readonly path: string }>,
    source: Pick<DefinitionSource, "path" | "kind" | "program" | "place">,
    made: Made<T>,
    taken: (name: string) => string | null,
  ): void {
    if ("problem" in made) {
      const warning = { text: `it was left out: ${made.problem}`, line: made.line };
      sources.push({ ...source, name: null, needsTrust: false, warnings: [warning] });
      return;
    }
    const { name, needsTrust } = made.made;
    const winner = all.get(name)?.path ?? taken(name);
    if (winner === null) all.set(name, { found: made.made, path: source.path });
    const clash: Warning = { text: `it was left out: "${name}" is already given by ${winner ?? ""}`, line: null };
    const warnings = winner === null ? made.warnings : [...made.warnings, clash];
    sources.push({ ...source, name: winner === null ? name : null, needsTrust, warnings });
  }

  for (const [place, root] of places) {
    for (const convention of AGENT_CONVENTIONS) {
      const folder = place === "home" ? (convention.homeFolder ?? convention.folder) : convention.folder;
      const { program } = convention;
      for (const path of await filesOf(root, folder, convention.ending, { kind: "agent", program, place }, sources)) {
        const made = await madeFrom(root, path, (text) => agentOf(text, path, convention, toolNames));
        if (made !== null) keep(definitions, { path, kind: "agent", program, place }, made, () => null);
      }
    }
  }
  const builtIn = new Set(builtInDefinitions([]).map(({ name }) => name));
  const taken = (name: string): string | null =>
    definitions.get(name)?.path ?? (builtIn.has(name) ? "a built-in agent" : null);
  for (const [place, root] of places) {
    for (const { program, folder } of SKILL_FOLDERS) {
      for (const inner of await filesOf(root, folder, "", { kind: "skill", program, place }, sources)) {
        const path = pathIn(inner, "SKILL.md");
        const made = await madeFrom(root, path, (text) => skillOf(text, basename(inner), toolNames));
        if (made !== null) keep(skills, { path, kind: "skill", program, place }, made, taken);
      }
    }
  }
  const context = await readContext(options.folder, sources);
  return {
    definitions: [...definitions.values()].map(({ found }) => found),
    skills: [...skills.values()].map(({ found }) => found),
    context,
    sources,
  };
}

/** The paths in a folder that end so, as far as they are looked at. */
async function filesOf(
  root: string,
  folder: string,
  ending: string,
  source: Pick<DefinitionSource, "kind" | "program" | "place">,
  sources: DefinitionSource[],
): Promise<readonly string[]> {
  const path = pathIn(root, folder);
  const found = await namesIn(root, path);
  if (found === null) return [];
  const warn = (text: string): void =>
    void sources.push({ ...source, path, name: null, needsTrust: false, warnings: [{ text, line: null }] });
  if ("problem" in found) {
    warn(`it was left out: ${found.problem}`);
    return [];
  }
  if (found.more) warn(`only the first ${found.names.length} of its files were looked at`);
  return found.names.filter((name) => name.endsWith(ending) && name !== ending).map((name) => pathIn(path, name));
}

/** Null when there is no such file. */
async function madeFrom<T>(root: string, path: string, make: (text: string) => Made<T>): Promise<Made<T> | null> {
  const read = await readText(root, path, FILE_BYTES);
  if (read === null || "problem" in read) return read;
  return read.cut ? { problem: `it is longer than ${FILE_BYTES} bytes`, line: null } : make(read.text);
}

function agentOf(
  text: string,
  path: string,
  convention: Convention,
  toolNames: readonly string[],
): Made<FoundDefinition> {
  const read = headOf(text, convention);
  if ("problem" in read) return read;
  const made = readAgent({
    ...read,
    fileName: basename(path).slice(0, -convention.ending.length),
    toolNames,
    editMeansWrite: convention.editMeansWrite ?? false,
  });
  return "problem" in made ? made : { made: made.definition, warnings: made.warnings };
}

function headOf(
  text: string,
  convention: Convention,
): Pick<Parameters<typeof readAgent>[0], "fields" | "body"> | Problem {
  if (convention.language === "toml") {
    const found = readToml(text);
    return "problem" in found ? found : { fields: fieldsOf(found), body: "" };
  }
  const read = readFrontmatter(text);
  if ("problem" in read || read.there) return read;
  return { problem: "it has no frontmatter, the lines between --- and --- at its top", line: 1 };
}

function skillOf(text: string, folderName: string, toolNames: readonly string[]): Made<FoundSkill> {
  const read = parseSkill(text, folderName);
  if ("problem" in read) return read;
  const { tools, ...skill } = read.skill;
  const trustFor = trustReasons(read.fields);
  const trust = { needsTrust: trustFor.length > 0, trustFor };
  if (tools === undefined) return { made: { ...skill, ...trust }, warnings: [] };
  const { names, unknown, restricted } = mapTools(tools);
  const line = (read.fields.byKey.get("allowedtools") ?? read.fields.byKey.get("tools"))?.line ?? null;
  const held = (names ?? toolNames).filter((name) => toolNames.includes(name));
  const missing = [...unknown, ...restricted, ...(names ?? []).filter((name) => !toolNames.includes(name))];
  const warnings = missing.map((name) => ({ text: `the tool "${name.slice(0, 100)}" was left out`, line }));
  return { made: { ...skill, ...trust, tools: held }, warnings };
}

async function readContext(folder: string, sources: DefinitionSource[]): Promise<ReadDefinitions["context"]> {
  const path = pathIn(folder, "AGENTS.md");
  const read = await readText(folder, path, CONTEXT_BYTES);
  if (read === null) return null;
  const source = {
    path,
    kind: "context",
    program: "agents.md",
    place: "project",
    name: null,
    needsTrust: false,
  } as const;
  if ("problem" in read) {
    sources.push({ ...source, warnings: [{ text: `it was left out: ${read.problem}`, line: read.line }] });
    return null;
  }
  const cut: Warning = { text: `only its first ${CONTEXT_BYTES} bytes are used`, line: null };
  sources.push({ ...source, warnings: read.cut ? [cut] : [] });
  const text = read.text
    .replaceAll("\r\n", "\n")
    .replace(/^\uFEFF/, "")
    .trim();
  return text === "" ? null : { path, text, cut: read.cut };
}
