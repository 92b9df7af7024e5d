/** What a fact changes in the projection of runs, added to `into`. Reads the state and the contexts right after the fact was folded in. */

import type { Contexts } from "../context/contexts.ts";
import type { Fact } from "../event.ts";
import type { RunPatch } from "../journal.ts";
import type { Place } from "../place.ts";
import type { TreeState } from "../state.ts";

export function runPatch(state: TreeState, contexts: Contexts, fact: Fact, place: Place, into: RunPatch[]): void {
  switch (fact.type) {
    case "run-created":
      into.push({
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
      });
      return;
    case "run-started":
      add(into, {
        number: fact.run,
        state: "running",
        startedAt: place.at,
        deadline: state.timers.moments.get(`deadline:${fact.run}`) ?? null,
      });
      return;
    case "run-state-changed":
      add(into, {
        number: fact.run,
        state: fact.state,
        deadline: state.timers.moments.get(`deadline:${fact.run}`) ?? null,
      });
      return;
    case "run-ended": {
      const outcome = contexts.runs.get(fact.run)?.outcome;
      add(into, {
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
      });
      return;
    }
    case "run-settled":
      add(into, { number: fact.run, tokens: fact.tokens, cost: fact.cost });
      return;
    case "tool-answered":
    case "message-sent":
      if (fact.run !== undefined) add(into, { number: fact.run, delivery: "placed" });
      return;
    case "run-undeliverable":
      add(into, { number: fact.run, delivery: "undeliverable", undeliverable: fact.reason });
      return;
    case "turn-started":
      for (const number of fact.placed ?? []) add(into, { number, delivery: "placed" });
      return;
    default:
      return;
  }
}

/** What a step says of one run one fact after the other is one patch: the patches in `into` are its own. */
function add(into: RunPatch[], patch: RunPatch): void {
  const last = into.at(-1);
  if (last?.number === patch.number) Object.assign(last, patch);
  else into.push(patch);
}
