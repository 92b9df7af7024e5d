/** The result of an awaited `subagent` call, as the parent's model sees it: rule F2, keys always in this order. */

import { outcomeLabel } from "./outcome-label.ts";
import { reportBounded } from "./bounded-report.ts";
import type { RunTexts } from "../../context/run-texts.ts";
import { NO_OUTPUT } from "./announcement-text.ts";
import type { Sha256 } from "../../journal/journal.ts";
import type { Json } from "../../values/json.ts";
import { canonicalJson } from "../index.ts";

/** `maxBytes` bounds summary, artifacts and data together. */
export function runPayload(texts: RunTexts, maxBytes: number, sha256: Sha256): { readonly [key: string]: Json } {
  const outcome = texts.outcome;
  if (outcome === null) return {};
  const success = outcome.status === "ok";
  const { result } = outcome;
  const text = result.text === "" ? NO_OUTPUT : result.text;
  const { kept, truncated } = reportBounded({ ...result, text }, maxBytes, sha256);
  return {
    success,
    summary: kept.text,
    artifacts: kept.artifacts.map(({ kind, value }) => ({ kind, value })),
    ...(kept.data === undefined ? {} : { data: kept.data }),
    ...(success ? {} : { error: outcome.error ?? outcomeLabel(outcome), reason: outcome.reason ?? outcome.status }),
    timed_out: outcome.status === "timeout",
    duration_ms: outcome.startedAt === null ? 0 : outcome.endedAt - outcome.startedAt,
    run_id: texts.id,
    report: outcome.report,
    nudged: outcome.nudged,
    ...(truncated === null ? {} : { truncated: { ...truncated } }),
  };
}

/** Rule F3: a payload without what differs from run to run, in canonical JSON. */
export function normalisedOutput(payload: Readonly<Record<string, unknown>>): string {
  return canonicalJson({ ...payload, duration_ms: 0, run_id: null });
}
