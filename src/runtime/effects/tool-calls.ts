/**
 * Calls tools, if the rights in force where a call starts allow it, whatever was decided before (rule A9). A failure of
 * a tool is a result.
 */

import type { Recovered, Tool, ToolContext, ToolOutput } from "../../contracts/tool.ts";
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

type CallTool = Extract<Effect, { type: "call-tool" | "recover-tool" }>;

interface ToolCallParts {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly rights: ProcessRights;
  readonly workspace: string;
}

/** Calls the tool, or asks it what became of a call that a crash interrupted. */
export type ToolCaller = (loaded: LoadedTree, effect: CallTool, input: Json, signal: AbortSignal) => Promise<Recovered>;

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

  async function recover(name: string, input: Json, context: ToolContext): Promise<Recovered> {
    const unknown = (why: string): ToolOutput => ({
      text: `Error: interrupted, outcome unknown: ${name} ${why}; check before you repeat it`,
      failed: true,
    });
    try {
      const recovered = await tools.get(name)?.recover?.(input, context);
      if (recovered === undefined) return unknown("cannot say what became of the call");
      return recovered === "never-happened" ? recovered : parseOutput(name, recovered);
    } catch (error) {
      return unknown(`could not say what became of the call: ${errorText(error)}`);
    }
  }

  return async (loaded, effect, input, signal) => {
    const { key, attempt, agent, name } = effect;
    const { agents, effects, runs } = loaded.tree.state;
    const context = {
      signal,
      seen: effects.get(key)?.seen ?? undefined,
      workspace,
      callId: `${loaded.id}/${key}`,
      attempt,
      tree: loaded.id,
      run: runs.get(agent)?.id ?? null,
      agent: agents.get(agent)?.id ?? "",
      // A copy: what a tool changes in it reaches no other call.
      data: structuredClone(loaded.tree.contexts.data ?? null),
      ...rulesOf(loaded, effect),
    };
    if (effect.type === "recover-tool") return recover(name, input, context);
    return refused(loaded, effect, input) ?? (await run(name, input, context));
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
