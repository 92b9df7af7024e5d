/** Executes effects: calls models and tools, reads the store, and submits what comes back as an input. */

import type { ModelProvider } from "../../contracts/model.ts";
import type { Runner } from "../../contracts/runner.ts";
import type { Store } from "../../contracts/store.ts";
import type { Tool, ToolOutput } from "../../contracts/tool.ts";
import type { World } from "../../contracts/world.ts";
import type { ContextRequest } from "../../core/context/request.ts";
import type { Effect } from "../../core/effect.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import type { DefinitionText } from "../../core/values/definition.ts";
import type { StepKey, TreeId } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import type { ToolCallPart } from "../../core/values/message.ts";
import type { ProcessRights } from "../../core/permissions/process-rights.ts";
import { errorText } from "../../errors.ts";
import type { Clock } from "../clock.ts";
import type { Submission } from "../commits/tree-commit.ts";
import type { StandardSchema } from "../definitions/output-schema.ts";
import { createOutsideSessions } from "../outside/outside-sessions.ts";
import { createStoreReader } from "../journals/store-reader.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { SchemaChecker } from "../schemas/schema-checker.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";
import type { DelegationHook } from "./before-delegation.ts";
import { createCallFacts } from "./call-facts.ts";
import { eraseTexts } from "./erase-texts.ts";
import { createExecutions, type Executions } from "./executions.ts";
import { createModelCaller } from "./model-calls.ts";
import { retryReads } from "./retry-reads.ts";
import { createToolCaller } from "./tool-calls.ts";
import { resultBounds, toolFinishedInput } from "./tool-results.ts";

export interface EffectRunner extends Omit<Executions, "execute" | "abort"> {
  /** Resolves when nothing of the outside children runs that were stopped. */
  readonly outsideStopped: () => Promise<void>;
  /** Starts an effect whose decision is committed. */
  start(loaded: LoadedTree, effect: Effect, requests: ReadonlyMap<StepKey, ContextRequest>): void;
}

interface EffectRunnerParts {
  readonly models: ModelProvider;
  readonly tools: readonly Tool[];
  readonly runners: readonly Runner[];
  /** The definitions of this process, by their hashes. */
  readonly definitions: ReadonlyMap<string, DefinitionText>;
  /** What agents may do while this process executes them. */
  readonly rights: ProcessRights;
  readonly schemas: SchemaChecker;
  /** Standard Schemas of definitions, by the definition's hash. */
  readonly outputs: ReadonlyMap<string, StandardSchema>;
  readonly workspace: string;
  readonly store: Store;
  readonly sha256: Sha256;
  readonly clock: Clock;
  readonly world: Pick<World, "after" | "monotonic" | "soon">;
  readonly redactor: Redactor;
  readonly delegations: DelegationHook;
  readonly submit: (submission: Submission) => void;
  /** Gets errors of effects that become no input. */
  readonly onFailure: (error: unknown) => void;
  readonly onText: (tree: TreeId, agent: string, delta: string) => void;
}

type ToolEffect = Extract<Effect, { type: "call-tool" | "recover-tool" | "read-store" }>;

export function createEffectRunner(parts: EffectRunnerParts): EffectRunner {
  const { store, sha256, world, redactor } = parts;
  const reader = createStoreReader(store, parts.clock);
  const tools = new Map(parts.tools.map((tool) => [tool.name, tool]));
  const executions = createExecutions(parts);
  const callModel = createModelCaller({ ...parts, callFacts: createCallFacts({ ...parts, tools }) });
  const outside = createOutsideSessions(parts);
  const callTool = createToolCaller({ ...parts, tools });
  const inputs = new WeakMap<readonly ToolCallPart[], ReadonlyMap<string, Json>>();

  /** The arguments of a reply's calls, by call. A reply may have thousands, so they are searched once. */
  function inputsOf(calls: readonly ToolCallPart[]): ReadonlyMap<string, Json> {
    const known = inputs.get(calls) ?? new Map(calls.map(({ id, input }) => [id, input]));
    inputs.set(calls, known);
    return known;
  }

  async function readStore(
    loaded: LoadedTree,
    effect: Extract<Effect, { type: "read-store" }>,
    input: Json,
    signal: AbortSignal,
  ): Promise<ToolOutput> {
    try {
      return await retryReads(world, signal, () => reader.answer(loaded, effect, input));
    } catch (error) {
      return { text: `Error: ${effect.name}: the store could not be read: ${errorText(error)}`, failed: true };
    }
  }

  async function answerCall(loaded: LoadedTree, effect: ToolEffect, signal: AbortSignal): Promise<Submission> {
    const { tree, id } = loaded;
    const calls = tree.contexts.agents.get(effect.agent)?.open?.calls ?? [];
    const input = inputsOf(calls).get(effect.call) ?? null;
    const output = await (effect.type === "read-store"
      ? readStore(loaded, effect, input, signal)
      : callTool(loaded, effect, input, signal));
    const { key, attempt } = effect;
    if (output === "never-happened")
      return { tree: id, input: { type: "tool-not-run", effect: key, attempt }, texts: [] };
    const clean = { ...output, text: redactor.text(output.text) };
    return { tree: id, ...toolFinishedInput(effect, clean, resultBounds(tree.state.settings)) };
  }

  return {
    ...executions,
    outsideStopped: outside.stopped,
    start(loaded, effect, requests) {
      const { id, tree } = loaded;
      switch (effect.type) {
        case "abort":
          return executions.abort(id, effect.key);
        case "call-model": {
          const request = requests.get(effect.key);
          const agent = tree.state.agents.get(effect.agent);
          if (request === undefined || agent === undefined) return;
          return executions.execute(id, effect, (signal) => callModel({ loaded, effect, request, agent }, signal));
        }
        case "call-tool":
        case "recover-tool":
        case "read-store":
          return executions.execute(id, effect, (signal) => answerCall(loaded, effect, signal));
        case "start-runner":
          return executions.execute(id, effect, (signal) => outside.run(loaded, effect, signal));
        case "tell-runner":
          return executions.execute(id, effect, () => outside.tell(loaded, effect));
        case "erase-texts":
          return executions.execute(id, effect, (signal) =>
            retryReads(world, signal, () => eraseTexts(store, sha256, loaded, effect)),
          );
      }
    },
  };
}
