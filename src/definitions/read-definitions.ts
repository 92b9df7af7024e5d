/**
 * Owns the reading of a project's own definitions: agents, skills and AGENTS.md, in the forms of several programs.
 *
 * Invariants:
 *  1. Nothing throws, whatever the files are: what cannot be used is a warning that names the file and, where known, the line.
 *  2. Every file that was looked at is a source, also the one that came to nothing.
 *  3. Of two of one name the nearer wins: the project before the home folder, Errand's files before other programs'. The other gets
 *     a warning that names the winner.
 *  4. Nothing is acted on. What asks for commands, hooks, servers or base URLs, replaces a built-in definition or one of the user's own,
 *     or is reached by a symlink is not in use before its folder is trusted, nor is the model that a definition names; the home folder is
 *     the user's own.
 */

import { hash } from "node:crypto";
import { basename } from "node:path";
import { createFileJudge, type FileJudge, type PermissionRule } from "../core/permissions/permissions.ts";
import { type FoundDefinition, readAgent, type Warning } from "./agent-file.ts";
import { builtInDefinitions } from "./built-in.ts";
import { type Chosen, chooseDefinitions, type Objection } from "./choose-definitions.ts";
import { AGENT_CONVENTIONS, type Convention, SKILL_FOLDERS } from "./conventions.ts";
import { descriptionOf, fieldsOf, type Problem } from "./fields.ts";
import { FILES, type FileText, namesIn, pathIn, readText } from "./folder-files.ts";
import { readFrontmatter } from "./frontmatter.ts";
import { trustReasons } from "./needs-trust.ts";
import { parseSkill, type Skill } from "./skill.ts";
import { ERRAND_TOOLS, mapTools } from "./tool-names.ts";
import { readToml } from "./toml.ts";

export interface FoundSkill extends Skill {
  readonly needsTrust: boolean;
  readonly trustFor: readonly string[];
}

interface FileOf<Kind, Found> {
  readonly path: string;
  readonly kind: Kind;
  /** The program whose convention it follows: `errand`, `claude`, `gemini`, … */
  readonly program: string;
  readonly place: "project" | "home";
  /** SHA-256 of its text, in hexadecimal; null when it could not be read. */
  readonly hash: string | null;
  /** True if it was reached by a symlink. */
  readonly linked: boolean;
  /** What it gives, in use or not; null when it came to nothing. */
  readonly found: Found | null;
  readonly warnings: readonly Warning[];
}

type AgentFile = FileOf<"agent", FoundDefinition>;
export type AgentSource = FileOf<"agent", FoundDefinition> & Chosen;
export type SkillSource = FileOf<"skill", FoundSkill> & Chosen;
export type ContextSource = FileOf<"context", never> & Chosen;
/** A file that was looked at. */
export type DefinitionSource = AgentSource | SkillSource | ContextSource;

export interface ReadDefinitions {
  /** Those in use. */
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
  /** Whether the user trusts this file of the project as it is. Default: none. */
  readonly trusted?: (file: { readonly path: string; readonly hash: string }) => boolean;
  /** Why the model of a definition cannot be had; null when it can. Default: all can. */
  readonly modelProblem?: (definition: FoundDefinition) => string | null;
  /** Rules for the files of the project: what they deny to `read_file` is not read here either. */
  readonly permissions?: readonly PermissionRule[];
}

/** In `trustFor`: the definition names a model, which is used once the file is trusted. */
export const TRUST_FOR_MODEL = "a model";
const FILE_BYTES = 64 * 1024;
const CONTEXT_BYTES = 64 * 1024;

type Place = "project" | "home";
type Made<T> = { readonly made: T; readonly warnings: readonly Warning[] } | Problem;

export async function readDefinitions(options: ReadDefinitionsOptions): Promise<ReadDefinitions> {
  const toolNames = options.toolNames ?? ERRAND_TOOLS;
  const places: readonly (readonly [Place, string])[] = [
    ["project", options.folder],
    ...(options.home === undefined || options.home === options.folder ? [] : [["home", options.home] as const]),
  ];
  const judge = createFileJudge(options.permissions === undefined ? [] : [options.permissions], "read_file");
  const agentFiles: FileOf<"agent", FoundDefinition>[] = [];
  const skillFiles: FileOf<"skill", FoundSkill>[] = [];
  for (const [place, root] of places) {
    // Each place has its own: a folder full of files takes none of the user's own away.
    const room = { left: FILES };
    for (const convention of AGENT_CONVENTIONS) {
      const folder = place === "home" ? (convention.homeFolder ?? convention.folder) : convention.folder;
      const source = { kind: "agent", program: convention.program, place } as const;
      for (const path of await filesOf(root, folder, convention.ending, source, agentFiles, room)) {
        const make = (text: string): Made<FoundDefinition> => agentOf(text, path, convention, toolNames);
        agentFiles.push(...(await fileOf(root, path, source, place === "home" ? null : judge, make)));
      }
    }
    for (const { program, folder } of SKILL_FOLDERS) {
      const source = { kind: "skill", program, place } as const;
      for (const inner of await filesOf(root, folder, "", source, skillFiles, room)) {
        const make = (text: string): Made<FoundSkill> => skillOf(text, basename(inner), toolNames);
        const path = pathIn(inner, "SKILL.md");
        skillFiles.push(...(await fileOf(root, path, source, place === "home" ? null : judge, make)));
      }
    }
  }
  const builtIn = new Set(builtInDefinitions([]).map(({ name }) => name));
  const own = [...agentFiles, ...skillFiles].flatMap((file) => (file.place === "home" ? (file.found?.name ?? []) : []));
  const asking = asksBy({ builtIn, own: new Set(own) });
  const objection = objectionsBy(options);
  const asked = agentFiles.map((file) => withTrustedModel(asking(file), options));
  const agents = chooseDefinitions(asked, () => null, objection);
  const agentNamed = (name: string): string | null =>
    agents.find(({ state, found }) => state === "used" && found?.name === name)?.path ??
    (builtIn.has(name) ? "a built-in agent" : null);
  const skills = chooseDefinitions(skillFiles.map(asking), agentNamed, objection);
  const { context, sources } = await readContext(options.folder, judge);
  return {
    definitions: agents.flatMap(({ state, found }) => (state === "used" && found !== null ? [found] : [])),
    skills: skills.flatMap(({ state, found }) => (state === "used" && found !== null ? [found] : [])),
    context,
    sources: [...agents.map((agent) => withSkillWarnings(agent, skills)), ...skills, ...sources],
  };
}

/** A file with what it asks for beside what stands in it: the place of another definition, or a way by a symlink. */
function asksBy({ builtIn, own }: { readonly builtIn: ReadonlySet<string>; readonly own: ReadonlySet<string> }) {
  return <Kind, Found extends FoundDefinition | FoundSkill>(file: FileOf<Kind, Found>): FileOf<Kind, Found> => {
    const { found } = file;
    if (found === null || file.place === "home") return file;
    const more = [
      ...(own.has(found.name) ? [`the place of your own "${found.name}"`] : []),
      ...(builtIn.has(found.name) && !own.has(found.name) ? [`the place of the built-in "${found.name}"`] : []),
      ...(file.linked ? ["a symlink"] : []),
    ];
    if (more.length === 0) return file;
    return { ...file, found: { ...found, needsTrust: true, trustFor: [...found.trustFor, ...more] } };
  };
}

/** The model that a project's definition names is used once the file is trusted; until then its agent has the usual one. */
function withTrustedModel(file: AgentFile, { trusted = () => false }: ReadDefinitionsOptions): AgentFile {
  const { found, hash: text, path, place } = file;
  if (found?.model === undefined || place === "home" || text === null) return file;
  const { model, ...rest } = found;
  const trustFor = [...found.trustFor, TRUST_FOR_MODEL];
  if (trusted({ path, hash: text })) return { ...file, found: { ...found, trustFor } };
  const warning = { text: `its model "${model.slice(0, 100)}" is not used before you trust this folder`, line: null };
  return { ...file, found: { ...rest, trustFor }, warnings: [...file.warnings, warning] };
}

/** An agent that is used says which of its skills are not. */
function withSkillWarnings(agent: AgentSource, skills: readonly SkillSource[]): AgentSource {
  const used = new Set(skills.flatMap(({ state, found }) => (state === "used" ? [found?.name] : [])));
  const missing = agent.state === "used" ? (agent.found?.skills ?? []).filter((name) => !used.has(name)) : [];
  const warnings = missing.map((name) => ({ text: `the skill "${name.slice(0, 100)}" is not there`, line: null }));
  return { ...agent, warnings: [...agent.warnings, ...warnings] };
}

/** What stands against the use of a file's definition. */
function objectionsBy({ trusted = () => false, modelProblem = () => null }: ReadDefinitionsOptions) {
  return ({ path, place, hash: text, found }: FileOf<unknown, FoundDefinition | FoundSkill>): Objection | null => {
    if (found === null || text === null) return null;
    const { needsTrust, trustFor } = found;
    if (needsTrust && place === "project" && !trusted({ path, hash: text }))
      return { state: "untrusted", text: `it asks for ${trustFor.join(", ")}, and is not trusted` };
    const problem = "isolated" in found ? null : modelProblem(found);
    return problem === null ? null : { state: "no-model", text: problem.replace(/\.$/, "") };
  };
}

/** The paths in a folder that end so, as far as they are looked at. */
async function filesOf<Kind, T>(
  root: string,
  folder: string,
  ending: string,
  source: Pick<FileOf<Kind, never>, "kind" | "program" | "place">,
  files: FileOf<Kind, T>[],
  room: { left: number },
): Promise<readonly string[]> {
  const path = pathIn(root, folder);
  const found = await namesIn(root, path);
  if (found === null) return [];
  const warn = (text: string): void =>
    void files.push({ ...source, path, hash: null, linked: false, found: null, warnings: [{ text, line: null }] });
  if ("problem" in found) {
    warn(`it was left out: ${found.problem}`);
    return [];
  }
  const names = found.names.filter((name) => name.endsWith(ending) && name !== ending);
  const taken = names.slice(0, room.left);
  room.left -= taken.length;
  if (found.more) warn(`only the first ${found.names.length} of its files were looked at`);
  else if (taken.length < names.length)
    warn(`of its files ${names.length - taken.length} were left out: ${FILES} are read in all`);
  return taken.map((name) => pathIn(path, name));
}

/** None when there is no such file. */
async function fileOf<Kind, T>(
  root: string,
  path: string,
  source: Pick<FileOf<Kind, never>, "kind" | "program" | "place">,
  judge: FileJudge | null,
  make: (text: string) => Made<T>,
): Promise<readonly FileOf<Kind, T>[]> {
  const read = await readText(root, path, FILE_BYTES, judge);
  if (read === null) return [];
  const text = "problem" in read ? null : hash("sha256", read.text);
  const linked = "linked" in read && read.linked;
  const made = madeFrom(read, make);
  if (!("problem" in made)) return [{ ...source, path, hash: text, linked, found: made.made, warnings: made.warnings }];
  const warning = { text: `it was left out: ${made.problem}`, line: made.line };
  return [{ ...source, path, hash: text, linked, found: null, warnings: [warning] }];
}

function madeFrom<T>(read: FileText | Problem, make: (text: string) => Made<T>): Made<T> {
  if ("problem" in read) return read;
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
  const { byKey } = read.fields;
  const trustFor = trustReasons(read.fields);
  const { description, warning } = descriptionOf(skill.description);
  const long = warning === null ? [] : [{ text: warning, line: byKey.get("description")?.line ?? null }];
  const made = { ...skill, description, needsTrust: trustFor.length > 0, trustFor };
  if (tools === undefined) return { made, warnings: long };
  const { names, unknown, restricted } = mapTools(tools);
  const line = (byKey.get("allowedtools") ?? byKey.get("tools"))?.line ?? null;
  const held = (names ?? toolNames).filter((name) => toolNames.includes(name));
  const missing = [...unknown, ...restricted, ...(names ?? []).filter((name) => !toolNames.includes(name))];
  const warnings = missing.map((name) => ({ text: `the tool "${name.slice(0, 100)}" was left out`, line }));
  return { made: { ...made, tools: held }, warnings: [...long, ...warnings] };
}

async function readContext(
  folder: string,
  judge: FileJudge,
): Promise<{ readonly context: ReadDefinitions["context"]; readonly sources: readonly ContextSource[] }> {
  const path = pathIn(folder, "AGENTS.md");
  const read = await readText(folder, path, CONTEXT_BYTES, judge);
  if (read === null) return { context: null, sources: [] };
  const source = { path, kind: "context", program: "agents.md", place: "project", linked: false, found: null } as const;
  if ("problem" in read) {
    const warning = { text: `it was left out: ${read.problem}`, line: read.line };
    const state = { state: "unusable", shadowedBy: null, hash: null } as const;
    return { context: null, sources: [{ ...source, ...state, warnings: [warning] }] };
  }
  const cut: Warning = { text: `only its first ${CONTEXT_BYTES} bytes are used`, line: null };
  const text = read.text
    .replaceAll("\r\n", "\n")
    .replace(/^\uFEFF/, "")
    .trim();
  const state = { state: "used", shadowedBy: null, hash: hash("sha256", read.text) } as const;
  return {
    context: text === "" ? null : { path, text, cut: read.cut },
    sources: [{ ...source, ...state, warnings: read.cut ? [cut] : [] }],
  };
}
