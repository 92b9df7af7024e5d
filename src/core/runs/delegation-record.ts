/** Rule F8: what every delegation is known by outside: when it ends, or when it is refused. */

import type { Contexts } from "../context/contexts.ts";
import { taskFacts } from "../context/run-texts.ts";
import type { Fact } from "../event.ts";
import type { RunStatus, Sha256 } from "../journal.ts";
import { jsonObjectIs } from "../json.ts";
import type { Place } from "../place.ts";

export interface DelegationRecord {
  /** The run's id, or the call's where no run was made. */
  readonly correlation_id: string;
  readonly task_hash: string;
  readonly task_preview: string;
  /** When it began to run, or null if it never did. */
  readonly started_at: number | null;
  readonly duration_ms: number;
  readonly status: RunStatus | "refused";
}

/** Looks at the contexts before the fact is folded into them. */
export function refusedRecord(
  contexts: Contexts,
  fact: Extract<Fact, { type: "tool-answered" }>,
  sha256: Sha256,
): DelegationRecord | null {
  if (fact.run !== undefined) return null;
  const call = contexts.agents.get(fact.agent)?.open?.calls.find((given) => given.id === fact.call);
  if (call?.name !== "subagent" || !jsonObjectIs(call.input)) return null;
  const task = taskFacts(typeof call.input["task"] === "string" ? call.input["task"] : "", sha256);
  return {
    correlation_id: fact.call,
    task_hash: task.hash,
    task_preview: task.preview,
    started_at: null,
    duration_ms: 0,
    status: "refused",
  };
}

/** Looks at the contexts after the fact was folded into them. */
export function endedRecord(
  contexts: Contexts,
  fact: Extract<Fact, { type: "run-ended" }>,
  place: Place,
): DelegationRecord | null {
  const texts = contexts.runs.get(fact.run);
  if (texts === undefined || texts.outcome === null) return null;
  const { startedAt, status } = texts.outcome;
  return {
    correlation_id: texts.id,
    task_hash: texts.task.hash,
    task_preview: texts.task.preview,
    started_at: startedAt,
    duration_ms: startedAt === null ? 0 : place.at - startedAt,
    status,
  };
}
