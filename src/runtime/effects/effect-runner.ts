/**
 * Executing effects: calls models and tools, reads the store, and brings what comes back as an input.
 *
 * Invariants:
 *  1. An effect is started after the commit that recorded it, once for each attempt.
 *  2. The kernel has gone on without an aborted effect: of a model call it is only told what it had used, where its wire said. A reply
 *     that comes all the same is put on record as late, without its words.
 *  3. A tool is run only if the rights in force where it starts let it (rule A9), whatever was decided before.
 *  4. Whatever an adapter throws becomes an input; nothing is lost on the way but the effects of a process that dies. No rejection is unhandled.
 */

import type { ModelProvider } from "../../contracts/model.ts";
import { ModelFailure } from "../../contracts/model.ts";
import type { Tool, ToolContext, ToolOutput } from "../../contracts/tool.ts";
import type { World } from "../../contracts/world.ts";
import type { ContextRequest } from "../../core/context/request.ts";
import type { Effect } from "../../core/effect.ts";
import type { AgentNumber, StepKey, TreeId } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import { estimatedUsage } from "../../core/agent/call-model.ts";
import { createFileJudge } from "../../core/permissions/permissions.ts";
import {
  judgeCall,
  permissionsInForce,
  type ProcessRights,
  refusedCall,
} from "../../core/permissions/process-rights.ts";
import { errorText, passesByItself } from "../../errors.ts";
import { callWithin, maxOutputTokens, replyBounds, requireWithin } from "./bounded-call.ts";
import { requestFor } from "./model-request.ts";
import type { Submission } from "../commits/tree-commit.ts";
import {
  type EdgeFacts,
  type InputWithTexts,
  modelFailedInput,
  modelRepliedInput,
  repliedFacts,
} from "./model-inputs.ts";
import { resultBounds, toolFinishedInput } from "./tool-results.ts";
import type { StandardSchema } from "../definitions/output-schema.ts";
import type { SchemaChecker } from "../schemas/schema-checker.ts";
import type { StoreReader } from "../journals/store-reader.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { failureOf, replyTold } from "./parse-reply.ts";
import { holdBack } from "./live-text.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";

export interface EffectRunner {
  start(loaded: LoadedTree, effect: Effect, requests: ReadonlyMap<StepKey, ContextRequest>): void;
  /** Aborts what is executed for the tree and not open in it any more, or under another attempt. */
  abortClosed(loaded: LoadedTree): void;
  /** Aborts all that is executed for a tree that this process has lost: whoever has it now goes on without that. */
  abortTree(tree: TreeId): void;
  /** True if this process is executing the effect. */
  executing(tree: TreeId, key: StepKey): boolean;
  /** How many effects of the tree are being executed here. */
  count(tree: TreeId): number;
  /** Starts no more, and resolves when those under way have ended. */
  drain(): Promise<void>;
  /** Aborts what is under way: it stays open in the store, and is taken up by whoever loads the tree next. */
  abortAll(): void;
}

interface EffectRunnerParts {
  readonly models: ModelProvider;
  readonly tools: readonly Tool[];
  /** What agents may do while this process executes them. */
  readonly rights: ProcessRights;
  readonly schemas: SchemaChecker;
  /** Standard Schemas of definitions, by the definition's hash. */
  readonly outputs: ReadonlyMap<string, StandardSchema>;
  readonly workspace: string;
  readonly reader: StoreReader;
  readonly world: Pick<World, "after">;
  readonly submit: (submission: Submission) => void;
  readonly redactor: Redactor;
  /** Told of an effect that failed in a way that becomes no input: it stays open, and is begun again by whoever loads the tree next. */
  readonly onFailure: (error: unknown) => void;
  readonly onText: (tree: TreeId, agent: string, delta: string) => void;
}

/** Pauses between tries to read a store that is busy or away. */
const READ_AGAIN_MS = 50;
const READ_AGAIN_MOST_MS = 5_000;

type ToolEffect = Extract<Effect, { type: "call-tool" | "read-store" }>;

/** An effect under way. */
interface Execution {
  readonly controller: AbortController;
  readonly attempt: number;
}

export function createEffectRunner(parts: EffectRunnerParts): EffectRunner {
  const tools = new Map(parts.tools.map((tool) => [tool.name, tool]));
  const running = new Map<TreeId, Map<StepKey, Execution>>();
  let draining = false;
  const idlers: (() => void)[] = [];

  function begin(
    tree: TreeId,
    { key, attempt }: { readonly key: StepKey; readonly attempt: number },
    work: (signal: AbortSignal) => Promise<Submission>,
  ): void {
    const controller = new AbortController();
    const mine = running.get(tree) ?? new Map<StepKey, Execution>();
    mine.get(key)?.controller.abort();
    mine.set(key, { controller, attempt });
    running.set(tree, mine);
    void work(controller.signal)
      .catch((error: unknown) => {
        if (!controller.signal.aborted) parts.onFailure(error);
        return null;
      })
      .then((submission) => {
        if (mine.get(key)?.controller !== controller) {
          if (!draining && submission !== null) afterwards(submission);
          return;
        }
        mine.delete(key);
        if (mine.size === 0) running.delete(tree);
        if (submission !== null && !controller.signal.aborted) parts.submit(submission);
        if (running.size === 0) for (const resolve of idlers.splice(0)) resolve();
      });
  }

  /** Reads the store; while that fails in a way that passes, it is tried again, more and more rarely. */
  async function readStore<Result>(signal: AbortSignal, read: () => Promise<Result>): Promise<Result> {
    for (let wait = READ_AGAIN_MS; ; wait = Math.min(2 * wait, READ_AGAIN_MOST_MS)) {
      try {
        return await read();
      } catch (error) {
        if (signal.aborted || !passesByItself(error)) throw error;
      }
      await pause(wait, signal);
    }
  }

  function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = parts.world.after(milliseconds, resolve);
    const onAbort = (): void => {
      cancel();
      resolve();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    return promise.finally(() => signal.removeEventListener("abort", onAbort));
  }

  async function answerFromStore(
    loaded: LoadedTree,
    effect: Extract<Effect, { type: "read-store" }>,
    input: Json,
    signal: AbortSignal,
  ): Promise<ToolOutput> {
    try {
      return await readStore(signal, () => parts.reader.answer(loaded, effect, input));
    } catch (error) {
      return { text: `Error: ${effect.name}: the store could not be read: ${errorText(error)}`, failed: true };
    }
  }

  /** What is left to say of an effect that was aborted. */
  function afterwards({ tree, input }: Submission): void {
    if (input.type === "model-replied") parts.submit({ tree, input, texts: [] });
    if ((input.type !== "model-replied" && input.type !== "model-failed") || input.usage === null) return;
    const { effect, attempt, usage } = input;
    parts.submit({ tree, input: { type: "usage-learnt", effect, attempt, usage }, texts: [] });
  }

  function abort(tree: TreeId, key: StepKey): void {
    const mine = running.get(tree);
    mine?.get(key)?.controller.abort();
    mine?.delete(key);
    if (mine?.size === 0) running.delete(tree);
    if (running.size === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  function callModel(
    loaded: LoadedTree,
    effect: Extract<Effect, { type: "call-model" }>,
    request: ContextRequest | undefined,
  ): void {
    const { tree, id } = loaded;
    const speaker = tree.state.agents.get(effect.agent);
    if (request === undefined || speaker === undefined) return;
    begin(id, effect, async (signal) => {
      // Only `<say>` blocks of such an agent are for the user, and those are known when the reply is whole.
      const shown = parts.redactor.stream((delta) => parts.onText(id, speaker.id, delta));
      const live = speaker.definition.say ? null : holdBack(shown.onText);
      let replied: InputWithTexts;
      try {
        const found = parts.models.resolve(request.model);
        if ("unavailable" in found)
          throw new ModelFailure("provider-error", found.unavailable, { usage: { input: 0, output: 0 } });
        const bounds = replyBounds(tree.state.settings);
        const given = await callWithin({
          model: found.model,
          request: requestFor(request, maxOutputTokens(bounds.tokens, found.facts.window)),
          options: live === null ? { signal } : { signal, onText: live.onText },
          bounds,
          world: parts.world,
          estimate: estimatedUsage(speaker),
        });
        const reply = replyTold(given);
        requireWithin(request.model, reply.parts, reply.usage, bounds);
        const asked = repliedFacts(reply.parts, edgeFor(loaded, effect.agent));
        replied = modelRepliedInput(effect, reply, asked === null ? null : await asked);
      } catch (error) {
        return { tree: id, ...modelFailedInput(effect, failureOf(error)) };
      }
      live?.end();
      shown.end();
      return { tree: id, input: replied.input, texts: replied.texts };
    });
  }

  function edgeFor({ tree }: LoadedTree, agent: AgentNumber): EdgeFacts {
    const run = tree.state.runs.get(agent);
    const schema = run?.typed === true ? tree.contexts.runs.get(agent)?.schema : undefined;
    const own = parts.outputs.get(tree.state.agents.get(agent)?.definition.hash ?? "");
    const check = (data: Json | undefined): Promise<string | null> =>
      own === undefined ? parts.schemas.dataProblem(schema ?? true, data) : parts.schemas.standardProblem(own, data);
    const parent = tree.state.agents.get(tree.state.agents.get(agent)?.parent ?? -1)?.id;
    const definition = tree.state.agents.get(agent)?.definition;
    const restricted = definition !== undefined && permissionsInForce(parts.rights, definition).length > 0;
    return {
      models: parts.models,
      schemas: parts.schemas,
      parent,
      dataProblem: schema === undefined ? null : check,
      locate: (name) => (restricted ? locateBy(tools.get(name), parts.workspace) : null),
      callProblem: (name, input) => argumentsProblem(tools.get(name), input),
    };
  }

  function callTool(loaded: LoadedTree, effect: ToolEffect): void {
    const { tree, id } = loaded;
    const call = tree.contexts.agents.get(effect.agent)?.open?.calls.find((given) => given.id === effect.call);
    const input = call?.input ?? null;
    const seen = tree.state.effects.get(effect.key)?.seen ?? undefined;
    const refused = effect.type === "read-store" ? null : refusedHere(loaded, effect, input);
    begin(id, effect, async (signal) => {
      const output =
        effect.type === "read-store"
          ? await answerFromStore(loaded, effect, input, signal)
          : (refused ?? (await runTool(effect.name, input, { signal, seen, ...rulesOf(loaded, effect) })));
      const whole = { ...output, text: parts.redactor.text(output.text) };
      const { input: finished, texts } = toolFinishedInput(effect, whole, resultBounds(tree.state.settings));
      return { tree: id, input: finished, texts };
    });
  }

  /** What the model is told where the call may not be made here; null where it may. */
  function refusedHere(
    { tree }: LoadedTree,
    effect: Extract<Effect, { type: "call-tool" }>,
    input: Json,
  ): ToolOutput | null {
    const { name, agent, key, call } = effect;
    const { agents, grants } = tree.state;
    const definition = agents.get(agent)?.definition;
    const file = tree.contexts.agents.get(agent)?.open?.files?.get(call);
    const judgement =
      definition === undefined ? "unknown" : judgeCall(parts.rights, definition, { name, input, file }, grants);
    const granted = tree.state.effects.get(key)?.granted === true;
    if (judgement === "allow" || (judgement === "ask" && granted)) return null;
    return { text: `Error: ${refusedCall(name, judgement)}`, failed: true };
  }

  /** How the tool is to judge the files that it opens. */
  function rulesOf({ tree }: LoadedTree, { agent, name, call }: ToolEffect): Pick<ToolContext, "rules"> {
    const definition = tree.state.agents.get(agent)?.definition;
    const permissions = definition === undefined ? [] : permissionsInForce(parts.rights, definition);
    if (permissions.length === 0) return {};
    const file = tree.contexts.agents.get(agent)?.open?.files?.get(call) ?? {};
    return { rules: { judge: createFileJudge(permissions, name), file } };
  }

  async function runTool(name: string, input: Json, context: Omit<ToolContext, "workspace">): Promise<ToolOutput> {
    const tool = tools.get(name);
    if (tool === undefined) return { text: `Error: the tool "${name}" is not installed here`, failed: true };
    try {
      return outputTold(name, await tool.run(input, { ...context, workspace: parts.workspace }));
    } catch (error) {
      return { text: `Error: ${name} failed: ${errorText(error)}`, failed: true };
    }
  }

  return {
    start(loaded, effect, requests) {
      if (effect.type === "abort") return abort(loaded.id, effect.key);
      if (draining) return;
      if (effect.type === "call-model") return callModel(loaded, effect, requests.get(effect.key));
      if (effect.type === "call-tool" || effect.type === "read-store") return callTool(loaded, effect);
      begin(loaded.id, effect, (signal) => readStore(signal, () => parts.reader.erase(loaded, effect)));
    },
    abortClosed({ id, tree }) {
      for (const [key, { attempt }] of running.get(id) ?? []) {
        if (tree.state.effects.get(key)?.attempt !== attempt) abort(id, key);
      }
    },
    abortTree(tree) {
      for (const key of running.get(tree)?.keys() ?? []) abort(tree, key);
    },
    executing: (tree, key) => running.get(tree)?.has(key) === true,
    count: (tree) => running.get(tree)?.size ?? 0,
    drain() {
      draining = true;
      return running.size === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve));
    },
    abortAll() {
      draining = true;
      for (const [tree, mine] of running) for (const key of mine.keys()) abort(tree, key);
    },
  };
}

/** A tool of the user's own may break its promise: then the path counts as written, and the opened file is judged all the same. */
function locateBy(tool: Tool | undefined, workspace: string): ReturnType<EdgeFacts["locate"]> {
  const locate = tool?.locate?.bind(tool);
  if (locate === undefined) return null;
  return async (input) => {
    try {
      return await locate(input, { workspace });
    } catch {
      return null;
    }
  };
}

function argumentsProblem(tool: Tool | undefined, input: Json): string | null {
  try {
    const problem: unknown = tool?.check?.(input) ?? null;
    return typeof problem === "string" ? problem : null;
  } catch {
    // The tool says it itself when it is run.
    return null;
  }
}

/** A tool of the user's own may give anything. */
function outputTold(name: string, output: unknown): ToolOutput {
  if (typeof output === "object" && output !== null && "text" in output) {
    const { text } = output;
    if (typeof text === "string")
      return { text: text.toWellFormed(), failed: "failed" in output && Boolean(output.failed) };
  }
  return { text: `Error: ${name} gave no result`, failed: true };
}
