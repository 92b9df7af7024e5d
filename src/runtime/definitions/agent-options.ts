/** Agents as programs write them: by name, with tools and models of their own. */

import type { Tool } from "../../contracts/tool.ts";
import { ErrandError } from "../../errors.ts";
import { toolsOf, type ToolRecord } from "./ai-sdk-tool.ts";
import type { AgentDefinition } from "./catalog.ts";

/** A language model of the AI SDK, such as `anthropic("claude-sonnet-5-5")`. */
export interface LanguageModelObject {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
}

/** A model: `provider/name`, or a language model of the AI SDK. */
export type ModelOption = string | LanguageModelObject;

/** Tools: names of shared ones, and tools of the agent's own; or tools by their names, as the AI SDK takes them. */
export type ToolsOption = readonly (string | Tool)[] | ToolRecord;

/** What an agent is: its prompt, model, tools, limits and permissions. */
export interface AgentOptions extends Omit<AgentDefinition, "name" | "tools" | "delegates" | "model"> {
  /** What it calls. Default: all shared tools. */
  readonly tools?: ToolsOption;
  /** Tools that it does not call, and holds for its children: a child never has more than its parent holds. */
  readonly delegates?: ToolsOption;
  /** Default: the option `model` of `createErrand`. */
  readonly model?: ModelOption;
}

export interface GivenAgents {
  readonly definitions: readonly AgentDefinition[];
  /** The shared tools, and those that agents brought. */
  readonly tools: readonly Tool[];
  readonly defaultModel: string | undefined;
  /** The models that were given as objects, by their names. */
  readonly models: ReadonlyMap<string, LanguageModelObject>;
}

interface Given {
  readonly agents: Readonly<Record<string, AgentOptions>>;
  readonly model: ModelOption | undefined;
  readonly shared: readonly Tool[];
}

export function readAgents({ agents, model, shared }: Given): GivenAgents {
  const tools = new Map(shared.map((tool) => [tool.name, tool]));
  const brought: Tool[] = [];
  const objects = new Map<string, LanguageModelObject>();

  function nameOfModel(given: ModelOption): string {
    if (typeof given === "string") return given;
    const name = `${given.provider}/${given.modelId}`;
    const known = objects.get(name);
    if (known !== undefined && known !== given)
      throw new ErrandError("usage", `Two models are given as ${name}.`, {
        remedy: "Give the same object to all agents that use it, or set an own `modelId`.",
      });
    objects.set(name, given);
    return name;
  }

  /** Names of the tools; those that are objects are added to the tools of the process. */
  function namesOf(agent: string, given: ToolsOption): readonly string[] {
    const list: readonly (string | Tool)[] = Array.isArray(given) ? given : toolsOf(given as ToolRecord);
    return list.map((one) => {
      if (typeof one === "string") return one;
      const known = tools.get(one.name);
      if (known !== undefined && known !== one)
        throw new ErrandError("usage", `The agent "${agent}" brings a second tool with the name "${one.name}".`, {
          remedy: "Give each tool a name of its own, and the same object to all agents that share it.",
        });
      if (known === undefined) brought.push(one);
      tools.set(one.name, one);
      return one.name;
    });
  }

  const definitions = Object.entries(agents).map(([name, { tools: own, delegates, model: wanted, ...rest }]) => ({
    ...rest,
    name,
    ...(own === undefined ? {} : { tools: namesOf(name, own) }),
    ...(delegates === undefined ? {} : { delegates: namesOf(name, delegates) }),
    ...(wanted === undefined ? {} : { model: nameOfModel(wanted) }),
  }));
  const defaultModel = model === undefined ? undefined : nameOfModel(model);
  return {
    definitions,
    tools: [...shared, ...brought],
    defaultModel,
    models: objects,
  };
}
