/** A tree since some point of its life: without the runs that were over before, and with its root's account from there on. */

import type { AgentModel, TreeModel } from "../../view/tree-model.ts";

export interface Since {
  readonly at: number;
  readonly tokens: number;
  readonly cost: number;
}

export function sinceNow({ at, agents }: TreeModel): Since {
  const { tokens = 0, cost = 0 } = agents.get(0) ?? {};
  return { at, tokens, cost };
}

export function recentTree(model: TreeModel, since: Since): TreeModel {
  const agents = [...model.agents.values()].flatMap((agent): AgentModel[] => {
    const { run, endedAt, tokens, cost } = agent;
    if (run === null) {
      return [{ ...agent, startedAt: since.at, tokens: tokens - since.tokens, cost: cost - since.cost }];
    }
    return run.state !== "ended" || (endedAt ?? 0) >= since.at ? [agent] : [];
  });
  return { ...model, agents: new Map(agents.map((agent) => [agent.number, agent])) };
}
