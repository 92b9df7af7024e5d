/** Calls models, and turns whatever they return or throw into an input of the kernel. */

import { ModelFailure, type ModelProvider } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import { estimatedUsage } from "../../core/agent/call-model.ts";
import type { ContextRequest } from "../../core/context/request.ts";
import type { Effect } from "../../core/effect.ts";
import type { AgentState } from "../../core/state.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { Submission } from "../commits/tree-commit.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";
import { callWithin, maxOutputTokens, replyBounds, requireWithin } from "./bounded-call.ts";
import type { DelegationHook } from "./before-delegation.ts";
import type { CallFactsFinder } from "./call-facts.ts";
import { holdBack } from "./live-text.ts";
import { modelFailedInput, modelRepliedInput } from "./model-inputs.ts";
import { requestFor } from "./model-request.ts";
import { parseReply, toModelFailure } from "./parse-reply.ts";

interface ModelCallParts {
  readonly models: ModelProvider;
  readonly world: Pick<World, "after">;
  readonly redactor: Redactor;
  readonly callFacts: CallFactsFinder;
  readonly delegations: DelegationHook;
  readonly onText: (tree: TreeId, agent: string, delta: string) => void;
}

/** A model call that was decided, with its request and the agent that calls. */
interface ModelCall {
  readonly loaded: LoadedTree;
  readonly effect: Extract<Effect, { type: "call-model" }>;
  readonly request: ContextRequest;
  readonly agent: AgentState;
}

export type ModelCaller = (call: ModelCall, signal: AbortSignal) => Promise<Submission>;

export function createModelCaller(given: ModelCallParts): ModelCaller {
  const { models, world, redactor, callFacts, delegations, onText } = given;
  return async ({ loaded, effect, request, agent }, signal) => {
    const { tree, id } = loaded;
    const shown = redactor.stream((delta) => onText(id, agent.id, delta));
    // Of an agent with `say` only `<say>` blocks are for the user, and they are known when the reply is complete.
    const live = agent.definition.say ? null : holdBack(shown.onText);
    let replied: ReturnType<typeof modelRepliedInput>;
    try {
      const resolved = models.resolve(request.model);
      if ("unavailable" in resolved)
        throw new ModelFailure("provider-error", resolved.unavailable, { usage: { input: 0, output: 0 } });
      const bounds = replyBounds(tree.state.settings);
      const received = await callWithin({
        model: resolved.model,
        request: requestFor(request, maxOutputTokens(bounds.tokens, resolved.facts.window)),
        options: live === null ? { signal } : { signal, onText: live.onText },
        bounds,
        world,
        estimate: estimatedUsage(agent),
      });
      const reply = parseReply(received);
      requireWithin(request.model, reply.parts, reply.usage, bounds);
      const found = await callFacts(loaded, effect.agent, reply.parts);
      const { parts, facts, replaced } = await delegations.checkReply(loaded, effect.agent, reply.parts, found);
      replied = modelRepliedInput(effect, { ...reply, parts }, facts, replaced);
    } catch (error) {
      return { tree: id, ...modelFailedInput(effect, toModelFailure(error)) };
    }
    live?.end();
    shown.end();
    return { tree: id, ...replied };
  };
}
