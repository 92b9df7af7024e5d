/**
 * Calls tools, if the rights in force where a call starts allow it, whatever was decided before (rule A9). A failure of a
 * tool is a result.
 */

import type { Tool, ToolContext, ToolOutput } from "../../contracts/tool.ts";
import type { Effect } from "../../core/effect.ts";
import type { Json } from "../../core/values/json.ts";
import { createFileJudge } from "../../core/permissions/permissions.ts";
import {
  judgeCall,
  permissionsInForce,
  type ProcessRights,
  refusedCall,
} from "../../core/permissions/process-rights.ts";
import { errorText } from "../../errors.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";

type CallTool = Extract<Effect, { type: "call-tool" }>;

interface ToolCallParts {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly rights: ProcessRights;
  readonly workspace: string;
}

export type ToolCaller = (
  loaded: LoadedTree,
  effect: CallTool,
  input: Json,
  signal: AbortSignal,
) => Promise<ToolOutput>;

export function createToolCaller({ tools, rights, workspace }: ToolCallParts): ToolCaller {
  /** What the model reads if the call is not allowed here; null if it is. */
  function refused({ tree }: LoadedTree, effect: CallTool, input: Json): ToolOutput | null {
    const { name, agent, key, call } = effect;
    const { agents, grants } = tree.state;
    const definition = agents.get(agent)?.definition;
    const file = tree.contexts.agents.get(agent)?.open?.files?.get(call);
    const judgement =
      definition === undefined ? "unknown" : judgeCall(rights, definition, { name, input, file }, grants);
    const granted = tree.state.effects.get(key)?.granted === true;
    if (judgement === "allow" || (judgement === "ask" && granted)) return null;
    return { text: `Error: ${refusedCall(name, judgement)}`, failed: true };
  }

  /** How the tool must judge the files that it opens. */
  function rulesOf({ tree }: LoadedTree, { agent, name, call }: CallTool): Pick<ToolContext, "rules"> {
    const definition = tree.state.agents.get(agent)?.definition;
    const permissions = definition === undefined ? [] : permissionsInForce(rights, definition);
    if (permissions.length === 0) return {};
    const file = tree.contexts.agents.get(agent)?.open?.files?.get(call) ?? {};
    return { rules: { judge: createFileJudge(permissions, name), file } };
  }

  async function run(name: string, input: Json, context: ToolContext): Promise<ToolOutput> {
    const tool = tools.get(name);
    if (tool === undefined) return { text: `Error: the tool "${name}" is not installed here`, failed: true };
    try {
      return parseOutput(name, await tool.run(input, context));
    } catch (error) {
      return { text: `Error: ${name} failed: ${errorText(error)}`, failed: true };
    }
  }

  return async (loaded, effect, input, signal) => {
    const seen = loaded.tree.state.effects.get(effect.key)?.seen ?? undefined;
    const context = { signal, seen, workspace, ...rulesOf(loaded, effect) };
    return refused(loaded, effect, input) ?? (await run(effect.name, input, context));
  };
}

/** A user's tool may return any value. */
function parseOutput(name: string, output: unknown): ToolOutput {
  if (typeof output === "object" && output !== null && "text" in output) {
    const { text } = output;
    if (typeof text === "string")
      return { text: text.toWellFormed(), failed: "failed" in output && Boolean(output.failed) };
  }
  return { text: `Error: ${name} gave no result`, failed: true };
}
