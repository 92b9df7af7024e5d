/** Rule F8: what every delegation is known by outside: when it ends, or when it is refused. */

import type { Contexts } from "../context/contexts.ts";
import { taskFacts } from "../context/run-texts.ts";
import type { FactOf, Stamp } from "../event.ts";
import type { RunStatus, Sha256 } from "../journal/journal.ts";
import type { Refusal } from "../step.ts";
import { type Json, jsonObjectIs } from "../values/json.ts";

export interface DelegationRecord {
  /** The run's id; where no run was made, the call's, or the id under which it was asked for. */
  readonly correlation_id: string;
  readonly task_hash: string;
  readonly task_preview: string;
  /** When it began to run, or null if it never did. */
  readonly started_at: number | null;
  readonly duration_ms: number;
  readonly status: RunStatus | "refused";
  /** Why it did not end well, or was refused: a code, and words. Null for a run that ended well. */
  readonly reason: string | null;
  readonly error: string | null;
  /** Why the closing call of a run that had reported did not come to an end. */
  readonly closed: string | null;
}

/** A call that was answered although no run was made for it. Looks at the contexts before the fact is folded into them. */
export function refusedRecord(
  contexts: Contexts,
  fact: FactOf<"tool-answered">,
  text: Json | undefined,
  sha256: Sha256,
): DelegationRecord | null {
  if (fact.run !== undefined) return null;
  const call = contexts.agents.get(fact.agent)?.open?.calls.find((given) => given.id === fact.call);
  if (call === undefined || !DELEGATIONS.has(call.name)) return null;
  const refusal = typeof text === "string" ? refusalIn(text) : null;
  return refusal === null ? null : refusalRecord(fact.call, call.input, refusal, sha256);
}

const DELEGATIONS: ReadonlySet<string> = new Set(["subagent", "start_background_agent", "use_skill"]);

/** The refusal that the answer of a delegation tool tells, or null. */
function refusalIn(text: string): Refusal | null {
  if (!text.startsWith("{")) return null;
  const answer = JSON.parse(text) as Json;
  if (!jsonObjectIs(answer) || (answer["success"] !== false && answer["status"] !== "refused")) return null;
  const { reason, error } = answer;
  return typeof reason === "string" && typeof error === "string" ? { reason, error } : null;
}

/** `input` is what was asked for. */
export function refusalRecord(id: string, input: Json | undefined, refusal: Refusal, sha256: Sha256): DelegationRecord {
  const asked = jsonObjectIs(input) && typeof input["task"] === "string" ? input["task"] : "";
  const task = taskFacts(asked, sha256);
  return {
    correlation_id: id,
    task_hash: task.hash,
    task_preview: task.preview,
    started_at: null,
    duration_ms: 0,
    status: "refused",
    reason: refusal.reason,
    error: refusal.error,
    closed: null,
  };
}

/** Looks at the contexts after the fact was folded into them. */
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
