/**
 * Reads the definitions of a project and of the user's home folder: agents, skills and AGENTS.md, in the formats of
 * several programs.
 *
 * Invariants:
 *  1. Nothing throws, whatever the files contain: what cannot be used gives a warning with the file and, if known, the
 *     line.
 *  2. Every file that was read is a source, even if it defines nothing.
 *  3. Of two definitions of one name the first is used: the project's before the home folder's, Errand's files before
 *     those of other programs. The other gets a warning that names the first.
 *  4. Until the user trusts a project's file, it is not used if it asks for commands, hooks, servers or base URLs,
 *     takes the name of a built-in definition or of one in the home folder, or is reached by a symlink. A model that it
 *     names is ignored until then. Files in the home folder need no trust.
 */

import { hash } from "node:crypto";
import { createFileJudge, type FileJudge, type PermissionRule } from "../core/permissions/permissions.ts";
import { type FoundDefinition, readAgent } from "./agent-file.ts";
import { builtInDefinitions } from "./built-in.ts";
import { type Choice, chooseDefinitions, type Objection } from "./choose-definitions.ts";
import { AGENT_CONVENTIONS, type Convention, SKILL_FOLDERS } from "./conventions.ts";
import { fieldsOf, type Parsed, type Warning } from "./fields.ts";
import { MAX_FILES, pathIn, readText } from "./folder-files.ts";
import { findFiles, type FoundFile } from "./found-file.ts";
import { readFrontmatter } from "./frontmatter.ts";
import { findSkill, type FoundSkill } from "./skill.ts";
import { ERRAND_TOOLS } from "./tool-names.ts";
import { readToml } from "./toml.ts";

type AgentFile = FoundFile<"agent", FoundDefinition>;
type SkillFile = FoundFile<"skill", FoundSkill>;
type AgentSource = AgentFile & Choice;
type SkillSource = SkillFile & Choice;
type ContextSource = FoundFile<"context", never> & Choice;
/** A file that was read. */
export type DefinitionSource = AgentSource | SkillSource | ContextSource;

export interface ReadDefinitions {
  /** The definitions to use. */
  readonly definitions: readonly FoundDefinition[];
  readonly skills: readonly FoundSkill[];
  /** The project's AGENTS.md. */
  readonly context: { readonly path: string; readonly text: string; readonly cut: boolean } | null;
  readonly sources: readonly DefinitionSource[];
}

export interface ReadDefinitionsOptions {
  readonly folder: string;
  /** The user's home folder. Left out: its definitions are not read. */
  readonly home?: string;
  /** The installed tools. Default: those of the workspace. */
  readonly toolNames?: readonly string[];
  /** True if the user trusts this file of the project with this content. Default: no file is trusted. */
  readonly trusted?: (file: { readonly path: string; readonly hash: string }) => boolean;
  /** Why the model of a definition is not available; null if it is. Default: all are. */
  readonly modelProblem?: (definition: FoundDefinition) => string | null;
  /** Rules for the project's files: files that they deny to `read_file` are not read. */
  readonly permissions?: readonly PermissionRule[];
}

/** In `trustFor`: the definition names a model, which is ignored until the file is trusted. */
export const TRUST_FOR_MODEL = "a model";
const CONTEXT_BYTES = 64 * 1024;

export async function readDefinitions(options: ReadDefinitionsOptions): Promise<ReadDefinitions> {
  const { folder, home, toolNames = ERRAND_TOOLS } = options;
  const judge = createFileJudge(options.permissions === undefined ? [] : [options.permissions], "read_file");
  const agentFiles: AgentFile[] = [];
  const skillFiles: SkillFile[] = [];
  for (const place of ["project", "home"] as const) {
    const root = place === "project" ? folder : home;
    if (root === undefined || (place === "home" && root === folder)) continue;
    // The home folder has its own limit, so that a project with many files does not displace the user's own.
    const common = { root, room: { left: MAX_FILES }, judge: place === "home" ? null : judge };
    for (const convention of AGENT_CONVENTIONS) {
      const files = await findFiles<"agent", FoundDefinition>({
        ...common,
        folder: place === "home" ? (convention.homeFolder ?? convention.folder) : convention.folder,
        source: { kind: "agent", program: convention.program, place },
        ending: convention.ending,
        parse: (text, fileName) => parseAgent(text, fileName, convention, toolNames),
      });
      agentFiles.push(...files);
    }
    for (const { program, folder: skillFolder } of SKILL_FOLDERS) {
      const files = await findFiles<"skill", FoundSkill>({
        ...common,
        folder: skillFolder,
        source: { kind: "skill", program, place },
        ending: "",
        fileName: "SKILL.md",
        parse: (text, folderName) => findSkill(text, folderName, toolNames),
      });
      skillFiles.push(...files);
    }
  }
  const builtIn = new Set(builtInDefinitions([]).map(({ name }) => name));
  const inHome = [...agentFiles, ...skillFiles].filter(({ place }) => place === "home");
  const ownNames = new Set(inHome.flatMap(({ found }) => found?.name ?? []));
  const objectionTo = objections(options);
  const agents = chooseDefinitions(
    agentFiles.map((file) => withTrustedModel(withTrustReasons(file, builtIn, ownNames), options)),
    () => null,
    objectionTo,
  );
  const agentNamed = (name: string): string | null =>
    agents.find(({ state, found }) => state === "used" && found?.name === name)?.path ??
    (builtIn.has(name) ? "a built-in agent" : null);
  const skills = chooseDefinitions(
    skillFiles.map((file) => withTrustReasons(file, builtIn, ownNames)),
    agentNamed,
    objectionTo,
  );
  const { context, sources } = await readContext(folder, judge);
  return {
    definitions: agents.flatMap(({ state, found }) => (state === "used" && found !== null ? [found] : [])),
    skills: skills.flatMap(({ state, found }) => (state === "used" && found !== null ? [found] : [])),
    context,
    sources: [...agents.map((agent) => withSkillWarnings(agent, skills)), ...skills, ...sources],
  };
}

/** Adds the reasons that are not in the file itself: the name of another definition, or a symlink. */
function withTrustReasons<Kind, Found extends FoundDefinition | FoundSkill>(
  file: FoundFile<Kind, Found>,
  builtIn: ReadonlySet<string>,
  ownNames: ReadonlySet<string>,
): FoundFile<Kind, Found> {
  const { found } = file;
  if (found === null || file.place === "home") return file;
  const own = ownNames.has(found.name);
  const more = [
    ...(own ? [`the place of your own "${found.name}"`] : []),
    ...(builtIn.has(found.name) && !own ? [`the place of the built-in "${found.name}"`] : []),
    ...(file.linked ? ["a symlink"] : []),
  ];
  if (more.length === 0) return file;
  return { ...file, found: { ...found, needsTrust: true, trustFor: [...found.trustFor, ...more] } };
}

/** Removes the model of a project's definition until the file is trusted. The agent then has the default model. */
function withTrustedModel(file: AgentFile, { trusted = () => false }: ReadDefinitionsOptions): AgentFile {
  const { found, hash: text, path, place } = file;
  if (found?.model === undefined || place === "home" || text === null) return file;
  const { model, ...rest } = found;
  const trustFor = [...found.trustFor, TRUST_FOR_MODEL];
  if (trusted({ path, hash: text })) return { ...file, found: { ...found, trustFor } };
  const warning = { text: `its model "${model.slice(0, 100)}" is not used before you trust this folder`, line: null };
  return { ...file, found: { ...rest, trustFor }, warnings: [...file.warnings, warning] };
}

/** Adds a warning for each skill of a used agent that is not used. */
function withSkillWarnings(agent: AgentSource, skills: readonly SkillSource[]): AgentSource {
  const used = new Set(skills.flatMap(({ state, found }) => (state === "used" ? [found?.name] : [])));
  const missing = agent.state === "used" ? (agent.found?.skills ?? []).filter((name) => !used.has(name)) : [];
  const warnings = missing.map((name) => ({ text: `the skill "${name.slice(0, 100)}" is not there`, line: null }));
  return { ...agent, warnings: [...agent.warnings, ...warnings] };
}

function objections({ trusted = () => false, modelProblem = () => null }: ReadDefinitionsOptions) {
  return ({ path, place, hash: text, found }: FoundFile<unknown, FoundDefinition | FoundSkill>): Objection | null => {
    if (found === null || text === null) return null;
    const { needsTrust, trustFor } = found;
    if (needsTrust && place === "project" && !trusted({ path, hash: text }))
      return { state: "untrusted", text: `it asks for ${trustFor.join(", ")}, and is not trusted` };
    const problem = "isolated" in found ? null : modelProblem(found);
    return problem === null ? null : { state: "no-model", text: problem.replace(/\.$/, "") };
  };
}

function parseAgent(
  text: string,
  fileName: string,
  { language, editMeansWrite }: Convention,
  toolNames: readonly string[],
): Parsed<FoundDefinition> {
  const common = { fileName, toolNames, editMeansWrite: editMeansWrite === true };
  if (language === "toml") {
    const fields = readToml(text);
    return "problem" in fields ? fields : readAgent({ ...common, fields: fieldsOf(fields), body: "" });
  }
  const read = readFrontmatter(text);
  if ("problem" in read) return read;
  if (!read.there) return { problem: "it has no frontmatter, the lines between --- and --- at its top", line: 1 };
  return readAgent({ ...common, ...read });
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
    const state = { state: "unusable", shadowedBy: null, objection: null, hash: null } as const;
    return { context: null, sources: [{ ...source, ...state, warnings: [warning] }] };
  }
  const cut: Warning = { text: `only its first ${CONTEXT_BYTES} bytes are used`, line: null };
  const text = read.text
    .replaceAll("\r\n", "\n")
    .replace(/^\uFEFF/, "")
    .trim();
  const state = { state: "used", shadowedBy: null, objection: null, hash: hash("sha256", read.text) } as const;
  return {
    context: text === "" ? null : { path, text, cut: read.cut },
    sources: [{ ...source, ...state, warnings: read.cut ? [cut] : [] }],
  };
}
