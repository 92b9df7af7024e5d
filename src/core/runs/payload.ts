/** The result of an awaited `subagent` call, as the parent's model sees it: rule F2, keys always in this order. */

import { excerpt } from "../context/excerpt.ts";
import { NO_OUTPUT, type RunTexts } from "../context/run-texts.ts";
import type { Sha256 } from "../journal.ts";
import type { Json } from "../json.ts";
import { outcomeLabel } from "../context/outcome-label.ts";
import { canonicalJson } from "../text/index.ts";

export function runPayload(texts: RunTexts, maxBytes: number, sha256: Sha256): { readonly [key: string]: Json } {
  const outcome = texts.outcome;
  if (outcome === null) return {};
  const success = outcome.status === "ok";
  const summary = excerpt(outcome.findings === "" ? NO_OUTPUT : outcome.findings, maxBytes, sha256);
  return {
    success,
    summary: summary.text,
    artifacts: texts.artifacts,
    ...(texts.data === undefined || texts.schema === undefined ? {} : { data: texts.data }),
    ...(success ? {} : { error: outcome.error ?? outcomeLabel(outcome), reason: outcome.reason ?? outcome.status }),
    timed_out: outcome.status === "timeout",
    duration_ms: outcome.startedAt === null ? 0 : outcome.endedAt - outcome.startedAt,
    run_id: texts.id,
    report: outcome.report,
    nudged: outcome.nudged,
    ...(summary.truncated === null ? {} : { truncated: { ...summary.truncated } }),
  };
}

/** Rule F3: a payload without what differs from run to run, in one spelling. Two runs of the same scripted child give the same. */
export function normalisedOutput(payload: Readonly<Record<string, unknown>>): string {
  return canonicalJson({ ...payload, duration_ms: 0, run_id: null });
}
