/** One agent of the model: making it, ending what it has under way, and naming it in changes. */

import type { AgentModel, RunModel, TreeModel } from "./tree-model.ts";

type Identity = Pick<AgentModel, "number" | "id" | "parent" | "name" | "definition" | "price"> & {
  readonly run?: RunModel;
  readonly offline?: boolean;
};

export function newAgent(identity: Identity): AgentModel {
  return {
    ...identity,
    run: identity.run ?? null,
    offline: identity.offline ?? false,
    turn: false,
    turns: 0,
    outcome: null,
    reason: null,
    error: null,
    thinking: false,
    retry: null,
    failure: null,
    tools: new Map(),
    startedAt: null,
    endedAt: null,
    tokens: 0,
    cost: 0,
    estimated: 0,
  };
}

/** Its turn is over: whatever it had under way is answered, aborted or of no interest any more. */
export function endAgentWork(model: TreeModel, agent: AgentModel): void {
  agent.turn = false;
  agent.thinking = false;
  agent.retry = null;
  agent.tools.clear();
  for (const [key, effect] of model.effects) if (effect.agent === agent.number) model.effects.delete(key);
  for (const [key, question] of model.questions) if (question.agent === agent.number) model.questions.delete(key);
}

export function runFields(
  agent: AgentModel,
  run: RunModel,
): { readonly run: string; readonly name: string; readonly definition: string } {
  return { run: run.id, name: agent.name, definition: agent.definition };
}

export function whose(agent: AgentModel): { readonly agent: string; readonly name: string } {
  return { agent: agent.id, name: agent.name };
}
