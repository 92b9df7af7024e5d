/** What a fact changes in the projection of runs. Reads the state and the contexts right after the fact was folded in. */

import type { Contexts } from "../context/contexts.ts";
import type { Fact } from "../event.ts";
import type { RunPatch } from "../journal.ts";
import type { Place } from "../place.ts";
import type { TreeState } from "../state.ts";

export function runPatch(state: TreeState, contexts: Contexts, fact: Fact, place: Place): readonly RunPatch[] | null {
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
          createdAt: place.at,
          startedAt: null,
          endedAt: null,
          deadline: null,
          tokens: 0,
          cost: 0,
          createdSeq: place.seq,
          endedSeq: null,
        },
      ];
    case "run-started":
      return [
        {
          number: fact.run,
          state: "running",
          startedAt: place.at,
          deadline: state.timers.moments.get(`deadline:${fact.run}`) ?? null,
        },
      ];
    case "run-state-changed":
      return [
        { number: fact.run, state: fact.state, deadline: state.timers.moments.get(`deadline:${fact.run}`) ?? null },
      ];
    case "run-ended": {
      const outcome = contexts.runs.get(fact.run)?.outcome;
      return [
        {
          number: fact.run,
          state: "ended",
          status: fact.status,
          reason: fact.reason ?? null,
          report: fact.report,
          nudged: outcome?.nudged ?? false,
          delivery: "pending",
          endedAt: place.at,
          tokens: outcome?.tokens ?? 0,
          cost: outcome?.cost ?? 0,
          endedSeq: place.seq,
        },
      ];
    }
    case "run-settled":
      return [{ number: fact.run, tokens: fact.tokens, cost: fact.cost }];
    case "tool-answered":
      return fact.run === undefined ? null : [{ number: fact.run, delivery: "placed" }];
    case "message-sent":
      return fact.run === undefined ? null : [{ number: fact.run, delivery: "placed" }];
    case "run-undeliverable":
      return [{ number: fact.run, delivery: "undeliverable", undeliverable: fact.reason }];
    case "turn-started":
      return fact.placed === undefined ? null : fact.placed.map((number) => ({ number, delivery: "placed" }));
    default:
      return null;
  }
}
