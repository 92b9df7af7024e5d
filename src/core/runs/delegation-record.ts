/** Rule F8: the record of a delegation for logs and metrics, made when it ends or is refused. */

import type { Contexts } from "../context/contexts.ts";
import { taskFacts } from "../context/run-texts.ts";
import type { FactOf, Stamp } from "../event.ts";
import type { RunStatus, Sha256 } from "../journal/journal.ts";
import type { RefusedDelegation } from "../step.ts";

/** A delegation that has ended or was refused. */
export interface DelegationRecord {
  /** The run's id. For a refused delegation the id of the call, or of the post that asked for the run. */
  readonly correlation_id: string;
  readonly task_hash: string;
  readonly task_preview: string;
  /** When it began to run, or null. */
  readonly started_at: number | null;
  readonly duration_ms: number;
  readonly status: RunStatus | "refused";
  /** Why it did not end well, or was refused: a code and words. Null for a run that ended well. */
  readonly reason: string | null;
  readonly error: string | null;
  /** Why the closing call of a run that had reported failed. */
  readonly closed: string | null;
}

export function refusedRecord({ id, task, reason, error }: RefusedDelegation, sha256: Sha256): DelegationRecord {
  const { hash, preview } = taskFacts(task, sha256);
  return {
    correlation_id: id,
    task_hash: hash,
    task_preview: preview,
    started_at: null,
    duration_ms: 0,
    status: "refused",
    reason,
    error,
    closed: null,
  };
}

/** The contexts must hold the fact already. */
export function endedRecord(contexts: Contexts, fact: FactOf<"run-ended">, { at }: Stamp): DelegationRecord | null {
  const texts = contexts.runs.get(fact.run);
  if (texts === undefined || texts.outcome === null) return null;
  const { startedAt, status, reason, error } = texts.outcome;
  return {
    correlation_id: texts.id,
    task_hash: texts.task.hash,
    task_preview: texts.task.preview,
    started_at: startedAt,
    duration_ms: startedAt === null ? 0 : at - startedAt,
    status,
    reason,
    error,
    closed: fact.closed ?? null,
  };
}
