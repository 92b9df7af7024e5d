import { callModel } from "../agent/call-model.ts";
import type { Deciding } from "../step.ts";
import type { AgentNumber } from "../values/ids.ts";
import { refreshIfIdle } from "./run-state.ts";

/** Queued children start while their parent has room for another live child and the process has a slot. */
export function startQueued(d: Deciding, number: AgentNumber): void {
  const parent = d.state.agents.get(number);
  while (parent !== undefined && parent.live.size < d.settings.limits.liveChildren) {
    const run = parent.queue[0];
    if (run === undefined || !d.slotFree(number)) return;
    d.emit({ type: "run-started", run });
    const child = d.state.agents.get(run);
    if (child !== undefined) callModel(d, child);
    refreshIfIdle(d, number);
  }
}
