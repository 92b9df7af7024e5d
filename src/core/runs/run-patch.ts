/** What a fact changes in the projection of runs, read right after the fact was folded into state and contexts. */

import type { Contexts } from "../context/contexts.ts";
import type { Fact, Stamp } from "../event.ts";
import type { RunPatch } from "../journal/journal.ts";
import type { TreeState } from "../state.ts";

/** Adds the patches to `into`. Neighbouring patches of one run become one. */
export function addRunPatch(state: TreeState, contexts: Contexts, fact: Fact, stamp: Stamp, into: RunPatch[]): void {
  for (const patch of patchesOf(state, contexts, fact, stamp)) {
    const last = into.at(-1);
    if (last?.number === patch.number) Object.assign(last, patch);
    else into.push(patch);
  }
}

function patchesOf(state: TreeState, contexts: Contexts, fact: Fact, { seq, at }: Stamp): RunPatch[] {
  switch (fact.type) {
    case "run-created":
      return [
        {
          number: fact.run,
          id: fact.id,
          agent: fact.agent,
          parent: fact.parent,
          mode: fact.mode,
          definition: fact.definition,
          name: contexts.runs.get(fact.run)?.name ?? "",
          state: "queued",
          status: null,
          reason: null,
          report: null,
          nudged: false,
          delivery: "open",
          undeliverable: null,
          group: fact.group ?? null,
          cleanup: fact.cleanup ?? "keep",
          createdAt: at,
          startedAt: null,
          endedAt: null,
          deadline: null,
          tokens: 0,
          cost: 0,
          createdSeq: seq,
          endedSeq: null,
        },
      ];
    case "run-started":
    case "run-state-changed": {
      const deadline = state.timers.get(`deadline:${fact.run}`) ?? null;
      const started = fact.type === "run-started";
      const now = started ? { state: "running" as const, startedAt: at } : { state: fact.state };
      return [{ number: fact.run, ...now, deadline }];
    }
    case "run-ended": {
      const { nudged = false, tokens = 0, cost = 0 } = contexts.runs.get(fact.run)?.outcome ?? {};
      const { run: number, status, reason = null, report } = fact;
      const ended = { state: "ended", delivery: "pending", endedAt: at, endedSeq: seq } as const;
      return [{ number, ...ended, status, reason, report, nudged, tokens, cost }];
    }
    case "run-settled":
      return [{ number: fact.run, tokens: fact.tokens, cost: fact.cost }];
    case "tool-answered":
    case "message-sent":
      return fact.run === undefined ? [] : [{ number: fact.run, delivery: "placed" }];
    case "run-returned":
      return [{ number: fact.run, delivery: "returned" }];
    case "run-undeliverable":
      return [{ number: fact.run, delivery: "undeliverable", undeliverable: fact.reason }];
    case "turn-started":
      return (fact.placed ?? []).map((number) => ({ number, delivery: "placed" }));
    default:
      return [];
  }
}
