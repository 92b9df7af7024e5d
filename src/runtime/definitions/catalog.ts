/** From the definitions a user gives to what the kernel and the contexts work with. */

import type { ModelProvider } from "../../contracts/model.ts";
import type { Blob } from "../../contracts/store.ts";
import type { Runner, RunnerSettings } from "../../contracts/runner.ts";
import type { Tool } from "../../contracts/tool.ts";
import type { Json } from "../../core/values/json.ts";
import type { AgentKind } from "../../core/input.ts";
import type { DefinitionFacts, DefinitionText, ToolFacts } from "../../core/values/definition.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import { GLOB_LENGTH } from "../../core/text/glob.ts";
import type { PermissionRule } from "../../core/permissions/permissions.ts";
import { ErrandError } from "../../errors.ts";
import { wholeFrom } from "../check-options.ts";
import { runnerOf } from "./agent-runner.ts";
import { checkSchema } from "../schemas/check-schema.ts";
import { jsonSchemaOf, type OutputSchema, type StandardSchema, standardSchemaIs } from "./output-schema.ts";

/** What an agent is made from. */
export interface AgentDefinition {
  /** Letters, digits, `-` and `_`; unique among the definitions. */
  readonly name: string;
  /** What it is good for: shown to agents that may delegate to it. */
  readonly description?: string;
  /** Its system prompt. */
  readonly prompt: string;
  /** Names of the ordinary tools it has; all of them when left out. */
  readonly tools?: readonly string[];
  /** Names of tools that it does not call, and holds for its children. */
  readonly delegates?: readonly string[];
  /** What it may do with them: rules beside those of the runtime, of which the stricter counts. */
  readonly permissions?: readonly PermissionRule[];
  /** `provider/model`; the default model when left out. */
  readonly model?: string;
  /** How it reports when it is a child. */
  readonly reporting?: "tool" | "tag";
  /** Schema of the data that its reports must hold. A Standard Schema must be able to tell its JSON Schema. */
  readonly output?: OutputSchema;
  readonly maxIterations?: number;
  readonly timeoutSeconds?: number;
  /** Only `<say>` blocks of its replies reach the user. */
  readonly say?: boolean;
  /**
   * The name of a runner: its turns are executed outside this process. Such an agent is always a child; it has its own
   * tools and its own model. `model` only says by which price its tokens are counted.
   */
  readonly runner?: string;
  /** What its runner needs, such as a command. Errand passes it on. */
  readonly settings?: { readonly [name: string]: Json };
  /** Who is responsible for them: this program (the default), or a file that the user trusts. */
  readonly settingsFrom?: RunnerSettings["origin"];
}

/** Instructions that an agent can use when it needs them, usually a `SKILL.md`. */
export interface SkillDefinition {
  readonly name: string;
  /** When to use it: shown to agents. */
  readonly description: string;
  /** The skill's text. */
  readonly prompt: string;
  /**
   * True: it runs as an awaited child, whose result is the tool's result. False: its text is read into the user's
   * context.
   */
  readonly isolated: boolean;
  /** Names of the tools an isolated skill may use; those that are not installed are left out. */
  readonly tools?: readonly string[];
}

export interface Catalog {
  readonly facts: readonly DefinitionFacts[];
  readonly texts: ReadonlyMap<string, DefinitionText>;
  readonly blobs: readonly Blob[];
  /** By name: the definition as a root is made from it, where there is something to tell about the project. */
  readonly roots: ReadonlyMap<string, { readonly facts: DefinitionFacts; readonly blob: Blob }>;
  /** Standard Schemas, by the hash of the definition that gave them. */
  readonly outputs: ReadonlyMap<string, StandardSchema>;
  /** Definitions that cannot be used, because neither they nor the options name a model. */
  readonly withoutModel: readonly string[];
  /** Names of the definitions that are not built in. */
  readonly given: readonly string[];
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

interface CatalogSource {
  readonly definitions: readonly AgentDefinition[];
  /** Used where no definition has the name. */
  readonly builtIn: readonly AgentDefinition[];
  readonly skills: readonly SkillDefinition[];
  /** All tools of the process. */
  readonly tools: readonly Tool[];
  /** Those of definitions that name none. */
  readonly sharedTools: readonly Tool[];
  readonly runners: readonly Runner[];
  readonly models: ModelProvider;
  /** The model of definitions that name none. */
  readonly defaultModel: string | undefined;
  /** The project context for roots. */
  readonly projectContext: string | undefined;
  readonly sha256: Sha256;
}

export function createCatalog(source: CatalogSource): Catalog {
  const facts: DefinitionFacts[] = [];
  const texts = new Map<string, DefinitionText>();
  const blobs: Blob[] = [];
  const roots = new Map<string, { readonly facts: DefinitionFacts; readonly blob: Blob }>();
  const outputs = new Map<string, StandardSchema>();
  const withoutModel: string[] = [];
  const given = source.definitions.map(({ name }) => name);
  const definitions = [
    ...[...source.definitions, ...source.builtIn.filter(({ name }) => !given.includes(name))].map((definition) => ({
      definition,
      skill: undefined,
    })),
    ...source.skills.map((skill) => skillDefinition(skill)),
  ];
  for (const { definition, skill } of definitions) {
    if (facts.some((known) => known.name === definition.name))
      throw invalid(definition, "another definition has the same name");
    const resolved = resolve(definition, source);
    if (resolved === null) {
      withoutModel.push(definition.name);
      continue;
    }
    facts.push(skill === undefined ? resolved.facts : { ...resolved.facts, skill });
    blobs.push(keep(resolved.text, definition));
    if (source.projectContext === undefined || skill !== undefined) continue;
    const blob = keep({ ...resolved.text, project: source.projectContext }, definition);
    roots.set(definition.name, { facts: { ...resolved.facts, hash: blob.hash }, blob });
  }
  return { facts, texts, blobs, roots, outputs, withoutModel, given };

  function keep(text: DefinitionText, { output }: AgentDefinition): Blob {
    const json = JSON.stringify(text);
    const blob = { hash: source.sha256(json), text: json };
    texts.set(blob.hash, text);
    if (output !== undefined && standardSchemaIs(output)) outputs.set(blob.hash, output);
    return blob;
  }
}

/** Throws if the definition of a new root cannot be used. A program's root calls no model, so it may have a runner. */
export function requireUsable(catalog: Catalog, definition: string, kind: AgentKind): void {
  const { facts } = catalog;
  requireModel(catalog, definition);
  const known = facts.find(({ name }) => name === definition);
  if (known !== undefined && (known.runner === undefined || kind === "host")) return;
  if (known !== undefined)
    throw new ErrandError("definition-invalid", `The agent "${definition}" has a runner, so it can only be a child.`, {
      remedy: "Start it as a run: errand.run(task, { agent, output }), or let another agent delegate to it.",
    });
  throw new ErrandError("definition-unknown", `There is no agent definition "${definition}".`, {
    remedy: `Known: ${facts.map(({ name }) => name).join(", ")}.`,
  });
}

export function requireModel({ withoutModel }: Catalog, definition: string): void {
  if (withoutModel.includes(definition))
    throw new ErrandError("model-missing", `No model is given for the agent "${definition}", and no key is set.`, {
      remedy:
        'Give one: createErrand({ model: "anthropic/claude-sonnet-5-5" }) with ANTHROPIC_API_KEY set, ' +
        "or a model of the AI SDK.",
    });
}

/** What children of the root would lose of their tools, because it does not hold them. */
export function toolsNarrowed({ facts, given }: Catalog, root: string): ErrandError | null {
  const held = facts.find(({ name }) => name === root);
  if (held === undefined || !given.includes(root)) return null;
  const names = new Set([...held.tools, ...(held.delegates ?? [])].map(({ name }) => name));
  const lost = facts.flatMap(({ name, tools }) => {
    const missing = tools.filter((tool) => !names.has(tool.name)).map((tool) => tool.name);
    return missing.length === 0 || name === root || !given.includes(name) ? [] : [{ name, missing }];
  });
  if (lost.length === 0) return null;
  const all = [...new Set(lost.flatMap(({ missing }) => missing))];
  const listed = lost.map(({ name, missing }) => `${name} without ${missing.join(", ")}`).join("; ");
  return new ErrandError("tools-narrowed", `Below "${root}" agents have fewer tools than they define: ${listed}.`, {
    remedy: `If they should have them, add them to "${root}": delegates: ${JSON.stringify(all)}.`,
    details: { root, tools: all.join(",") },
  });
}

/** The catalog as a tree with this root records it: only the root gets the project context. */
export function catalogOfTree(catalog: Catalog, root: string): Pick<Catalog, "facts" | "blobs"> {
  const told = catalog.roots.get(root);
  if (told === undefined) return catalog;
  const facts = catalog.facts.map((known) => (known.name === root ? told.facts : known));
  return { facts, blobs: [...catalog.blobs, told.blob] };
}

function skillDefinition(skill: SkillDefinition): { definition: AgentDefinition; skill: "inline" | "isolated" } {
  const { name, description, prompt, tools } = skill;
  const definition = { name, description, prompt, ...(tools === undefined ? {} : { tools }) };
  return { definition, skill: skill.isolated ? "isolated" : "inline" };
}

function invalid(definition: AgentDefinition, why: string): ErrandError {
  return new ErrandError(
    "definition-invalid",
    `The agent definition ${JSON.stringify(definition.name)} cannot be used: ${why}.`,
  );
}

/** Null if the definition has no model. */
function resolve(
  definition: AgentDefinition,
  source: CatalogSource,
): { facts: DefinitionFacts; text: DefinitionText } | null {
  if (!NAME.test(definition.name)) throw invalid(definition, "a name is up to 64 letters, digits, - and _");
  if (typeof definition.prompt !== "string") throw invalid(definition, "its prompt is not a text");
  for (const name of ["maxIterations", "timeoutSeconds"] as const)
    if (definition[name] !== undefined && !wholeFrom(1, definition[name]))
      throw invalid(definition, `${name} must be a whole number from 1`);
  const fit = runnerOf(definition, source.runners);
  if ("problem" in fit) throw invalid(definition, fit.problem);
  const { runner } = fit;
  const tools =
    runner !== null
      ? []
      : definition.tools === undefined
        ? source.sharedTools
        : [...new Set(definition.tools)].map((name) => toolNamed(definition, source, name));
  const output = definition.output === undefined ? undefined : jsonSchemaOf(definition.output);
  if (output === null)
    throw invalid(definition, "its output schema cannot tell its JSON Schema; give a JSON Schema instead");
  const checked = output === undefined ? null : checkSchema(output, "user");
  if (checked !== null && "problem" in checked)
    throw invalid(definition, `its output schema cannot be used: ${checked.problem}`);
  const ofDefault = runner === null ? source.defaultModel : undefined;
  const named = definition.model ?? ofDefault;
  if (named === undefined && runner === null) return null;
  const found = named === undefined ? null : source.models.resolve(named);
  if (found !== null && "unavailable" in found) throw new ErrandError("model-unknown", found.unavailable);
  const text: DefinitionText = {
    name: definition.name,
    description: definition.description ?? "",
    prompt: definition.prompt,
    tools: tools.map(({ name, description, schema }) => ({ name, description, schema })),
    ...(output === undefined ? {} : { output }),
    ...(runner === null ? {} : { runner: { name: runner.name, settings: fit.settings } }),
  };
  const facts: DefinitionFacts = {
    name: definition.name,
    hash: source.sha256(JSON.stringify(text)),
    reporting: definition.reporting ?? "tool",
    model: named ?? `runner:${runner?.name ?? ""}`,
    window: found?.facts.window ?? null,
    price: found?.facts.price ?? null,
    tools: tools.map(toolFacts),
    ...(definition.delegates === undefined
      ? {}
      : { delegates: definition.delegates.map((name) => toolFacts(toolNamed(definition, source, name))) }),
    ...(definition.permissions === undefined ? {} : { permissions: [normalizeRules(definition.permissions)] }),
    iterations: definition.maxIterations ?? null,
    timeoutSeconds: definition.timeoutSeconds ?? null,
    typed: output !== undefined,
    say: definition.say ?? false,
    ...(runner === null ? {} : { runner: { name: runner.name, takes: [...runner.takes] } }),
  };
  return { facts, text };
}

function toolFacts({ name, safe, recover }: Tool): ToolFacts {
  return { name, safe, ...(recover === undefined ? {} : { recovers: true }) };
}

function toolNamed(definition: AgentDefinition, source: CatalogSource, name: string): Tool {
  const tool = source.tools.find((known) => known.name === name);
  if (tool !== undefined) return tool;
  throw invalid(
    definition,
    `there is no tool "${name}" (known: ${source.tools.map((known) => known.name).join(", ") || "none"})`,
  );
}

/** Rules as they are judged: bounded, and in the Unicode form in which rules and paths are compared. */
export function normalizeRules(rules: readonly PermissionRule[]): readonly PermissionRule[] {
  return rules.map((rule) => {
    if (rule.path === undefined) return rule;
    if (rule.path.length > GLOB_LENGTH) {
      throw new ErrandError("usage", `The path of a rule for ${rule.tool} is longer than ${GLOB_LENGTH} characters.`, {
        remedy: "Write a shorter pattern.",
      });
    }
    return { ...rule, path: rule.path.normalize("NFC") };
  });
}
