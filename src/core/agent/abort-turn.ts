/** Giving up what a turn has under way. What its model call used is not known yet, and is booked at an estimate. */

import type { Deciding } from "../deciding.ts";
import type { AgentState } from "../state.ts";
import { estimatedUsage } from "./call-model.ts";

export function abortTurn(d: Deciding, agent: AgentState): void {
  const { turn } = agent;
  if (turn === null) return;
  for (const call of turn.calls.values()) if (call.effect !== null) d.effect({ type: "abort", key: call.effect });
  const { model } = turn;
  if (model === null || d.state.effects.get(model)?.underWay !== true) return;
  d.effect({ type: "abort", key: model });
  d.emit({
    type: "usage-estimated",
    agent: agent.number,
    effect: model,
    usage: estimatedUsage(agent),
    aborted: true,
  });
}
