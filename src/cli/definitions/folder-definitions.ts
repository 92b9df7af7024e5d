/**
 * The agents, skills and project context that a command works with: those of the current folder, of the user's home and
 * the built-in ones.
 */

import { join, relative } from "node:path";
import type { Runner } from "../../contracts/runner.ts";
import type { Tool } from "../../contracts/tool.ts";
import { builtInDefinitions } from "../../definitions/built-in.ts";
import type { FoundDefinition } from "../../definitions/agent-file.ts";
import { type DefinitionSource, type ReadDefinitions, readDefinitions } from "../../definitions/read-definitions.ts";
import type { FoundSkill } from "../../definitions/skill.ts";
import type { AgentDefinition, SkillDefinition } from "../../runtime/definitions/catalog.ts";
import type { ErrandOptions } from "../../runtime/errand-options.ts";
import { joinProviders } from "../../runtime/definitions/join-providers.ts";
import type { CommandCall } from "../command.ts";
import type { Host } from "../host.ts";
import { readTrust, isTrusted, type TrustItem, realFolder } from "../settings/trust-file.ts";

/** The agent that `errand run` starts. */
export const DEFAULT_AGENT = "orchestrator";

export interface FolderDefinitions {
  readonly read: ReadDefinitions;
  /** The built-in agents that no file replaces. */
  readonly builtIn: readonly AgentDefinition[];
  /** The agents that are read from files. */
  readonly agents: readonly AgentDefinition[];
  /** The options of `createErrand` that come from them. */
  readonly options: Pick<ErrandOptions, "agents" | "skills" | "projectContext">;
  readonly tools: readonly Tool[];
}

/** Which model a definition is to have; undefined for the default. */
export type ModelOf = (definition: FoundDefinition) => string | undefined;

export async function folderDefinitions(
  { host, models, runners, settings }: Pick<CommandCall, "host" | "models" | "runners" | "settings">,
  tools: readonly Tool[],
  modelOf: ModelOf,
): Promise<FolderDefinitions> {
  const [folder, home] = [realFolder(host.folder), realFolder(host.home)];
  const trust = await readTrust(host);
  const providers = joinProviders(models);
  const read = await readDefinitions({
    folder: host.folder,
    ...(home === folder ? {} : { home: host.home }),
    permissions: settings.permissions,
    toolNames: tools.map(({ name }) => name),
    trusted: ({ path, hash }) => isTrusted(trust, folder, { name: relative(host.folder, path), hash }),
    modelProblem(definition) {
      const lacked = runnerProblem(definition, runners);
      if (lacked !== null) return lacked;
      const model = modelOf(definition);
      const found = model === undefined ? null : providers.resolve(model);
      return found !== null && "unavailable" in found ? found.unavailable : null;
    },
  });
  const { definitions, skills, context } = read;
  const agents = definitions.map((definition) => agentOf(definition, modelOf(definition), skills));
  const replaced = new Set(definitions.map(({ name }) => name));
  return {
    read,
    tools,
    agents,
    builtIn: builtInDefinitions(tools).filter(({ name }) => !replaced.has(name)),
    options: {
      agents: Object.fromEntries(agents.map(({ name, ...agent }) => [name, agent])),
      skills: skills.map(({ needsTrust: _, trustFor: __, ...skill }): SkillDefinition => skill),
      ...(context === null ? {} : { projectContext: contextText(context, host) }),
    },
  };
}

/** The agents of files that are executed outside: what a command needs to go on with their runs. */
export async function outsideAgents(call: CommandCall): Promise<NonNullable<ErrandOptions["agents"]>> {
  const { agents } = await folderDefinitions(call, [], ({ model }) => model);
  return Object.fromEntries(
    agents.flatMap(({ name, ...agent }) => (agent.runner === undefined ? [] : [[name, agent]])),
  );
}

/** Why the definition cannot be executed outside, as it asks for; null if it can, or asks for no runner. */
function runnerProblem({ runner: name, settings = {} }: FoundDefinition, runners: readonly Runner[]): string | null {
  if (name === undefined) return null;
  const known = runners.map((runner) => runner.name).join(", ") || "none";
  const runner = runners.find((one) => one.name === name);
  if (runner === undefined) return `There is no runner "${name}" here (known: ${known}).`;
  return runner.check({ origin: "trusted-file", value: settings });
}

/** The items of a folder that need trust, in their current state. */
export async function trustItemsOf(folder: string): Promise<readonly TrustItem[]> {
  const { sources } = await readDefinitions({ folder });
  return sources.flatMap(({ path, hash, found }) =>
    found === null || hash === null || found.trustFor.length === 0
      ? []
      : [{ name: relative(folder, path), hash, for: found.trustFor }],
  );
}

/** A file as it is named to people. */
export function sourceName({ path, place }: Pick<DefinitionSource, "path" | "place">, host: Host): string {
  return place === "project" ? relative(host.folder, path) : join("~", relative(host.home, path));
}

function agentOf(
  { skills: wanted = [], needsTrust: _, trustFor: __, model: ___, ...definition }: FoundDefinition,
  model: string | undefined,
  skills: readonly FoundSkill[],
): AgentDefinition {
  const own = skills.filter(({ name }) => wanted.includes(name));
  const list = own.map(({ name, description }) => `\n- ${name}: ${description}`).join("");
  const prompt = own.length === 0 ? definition.prompt : `${definition.prompt}\n\n${SKILLS}${list}`;
  const origin = definition.runner === undefined ? {} : ({ settingsFrom: "trusted-file" } as const);
  return { ...definition, prompt, ...origin, ...(model === undefined ? {} : { model }) };
}

const SKILLS = "Skills for your work, to be used with use_skill:";

function contextText({ path, text, cut }: NonNullable<ReadDefinitions["context"]>, { folder }: Host): string {
  const name = relative(folder, path);
  return cut
    ? `(${name}, its beginning)\n${text}\n(${name} goes on: read the rest of the file.)`
    : `(${name})\n${text}`;
}
