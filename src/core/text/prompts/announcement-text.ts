/**
 * The text of an announcement (rules D4–D7): ended runs, their findings framed and bounded, their numbers, and what to
 * do.
 */

import { outcomeLabel, sentenceEnd } from "./outcome-label.ts";
import { reportWhole } from "../../reports/report.ts";
import { reportBounded, type Truncated } from "./bounded-report.ts";
import type { RunTexts } from "../../context/run-texts.ts";
import { NO_RESULT } from "../../reports/run-result.ts";
import type { AgentKind } from "../../input.ts";
import type { Sha256 } from "../../journal/journal.ts";
import type { Limits } from "../../values/limits.ts";
import { quoted } from "../frame.ts";
import { durationLabel, frameBuild, messageBuildSystemText } from "../index.ts";

interface Announced {
  readonly runs: readonly RunTexts[];
  /** Members of the batch that still run. */
  readonly stragglers: readonly RunTexts[];
  /** The kind of the agent that reads it. */
  readonly kind: AgentKind;
}

/** Replaces empty findings (rule D4). */
export const NO_OUTPUT = "(no output)";
const MICRO = 1_000_000;

export function announcementText(announced: Announced, limits: Limits, sha256: Sha256): string {
  const { runs, stragglers, kind } = announced;
  const [only] = runs;
  const share = Math.max(
    1,
    Math.min(limits.summaryBytes, Math.floor(limits.announcementBytes / Math.max(1, runs.length))),
  );
  const blocks = runs.length === 1 && only !== undefined ? oneRun(only, share, sha256) : manyRuns(runs, share, sha256);
  const open = stragglers.map(
    (run) => `Task ${quoted(run.name)} (run ${run.id}): still running; you will be told when it ends.`,
  );
  return [...blocks, ...open, instructions(kind, runs.length)].join("\n\n");
}

function oneRun(run: RunTexts, maxBytes: number, sha256: Sha256): string[] {
  const { text, cut } = findings(run, maxBytes, sha256);
  return [
    `Background task ${quoted(run.name)} ${sentenceEnd(outcomeLabel(run.outcome))}`,
    `Findings:\n${text}`,
    ...stats(run, cut),
  ];
}

function manyRuns(runs: readonly RunTexts[], maxBytes: number, sha256: Sha256): string[] {
  return [
    `${runs.length} background tasks have ended.`,
    ...runs.map((run, index) => runBlock(run, index + 1, maxBytes, sha256)),
    totals(runs),
  ];
}

/** What the run found, framed and bounded. */
function findings(run: RunTexts, maxBytes: number, sha256: Sha256): { readonly text: string; readonly cut: boolean } {
  const { kept, truncated } = reportBounded(run.outcome?.result ?? NO_RESULT, maxBytes, sha256);
  const text = reportWhole(kept);
  if (text === "" && truncated === null) return { text: NO_OUTPUT, cut: false };
  const frame = frameBuild("findings", run.agent, text);
  if (truncated === null) return { text: frame, cut: false };
  return { text: `${frame}\n${truncatedLine(truncated)}; read the rest with read_result, run_id ${run.id}`, cut: true };
}

function truncatedLine(truncated: Truncated): string {
  return `truncated: ${JSON.stringify(truncated)}`;
}

/** A report that is posted at once (rule B8): framed and bounded like findings. */
export function postedReport(run: RunTexts, maxBytes: number, sha256: Sha256): string {
  const { kept, truncated } = reportBounded(run.reports.at(-1) ?? NO_RESULT, maxBytes, sha256);
  const frame = messageBuildSystemText(reportWhole(kept), run.agent);
  if (truncated === null) return frame;
  const rest = `read the rest with read_result, run_id ${run.id}, when the run has ended`;
  return `${frame}\n${truncatedLine(truncated)}; ${rest}`;
}

function runtimeOf(run: RunTexts): number | null {
  const outcome = run.outcome;
  return outcome === null || outcome.startedAt === null ? null : outcome.endedAt - outcome.startedAt;
}

/** The numbers of a single run, as far as they are known. */
function stats(run: RunTexts, cut: boolean): string[] {
  const runtime = runtimeOf(run);
  const outcome = run.outcome;
  return statsLine([
    ...(runtime === null ? [] : [`runtime ${durationLabel(runtime)}`]),
    ...(outcome === null || outcome.tokens === 0 ? [] : [`tokens ${outcome.tokens}`]),
    ...(outcome === null || outcome.cost === 0 ? [] : [`cost $${(outcome.cost / MICRO).toFixed(4)}`]),
    ...readable(run, cut),
  ]);
}

function statsLine(parts: readonly string[]): string[] {
  return parts.length === 0 ? [] : [`Stats: ${parts.join(" • ")}`];
}

/** What `read_result` can read under the run's id: earlier reports, and what was cut. */
function readable(run: RunTexts, cut: boolean): string[] {
  const { earlier } = run.outcome?.result ?? NO_RESULT;
  if (earlier.length > 0) return [`messages ${earlier.length + 1}`, `run ${run.id}`];
  return cut ? [`run ${run.id}`] : [];
}

function runBlock(run: RunTexts, number: number, maxBytes: number, sha256: Sha256): string {
  const runtime = runtimeOf(run);
  const duration = runtime === null ? "" : ` (${durationLabel(runtime)})`;
  const { text, cut } = findings(run, maxBytes, sha256);
  const lines = [
    `### Task ${number}: ${quoted(run.name)}`,
    `Status: ${outcomeLabel(run.outcome)}${duration}`,
    text,
    ...statsLine(readable(run, cut)),
  ];
  return lines.join("\n");
}

function totals(runs: readonly RunTexts[]): string {
  let earliest: number | null = null;
  let latest = 0;
  let succeeded = 0;
  for (const { outcome } of runs) {
    if (outcome === null) continue;
    if (outcome.status === "ok") succeeded += 1;
    if (outcome.startedAt !== null)
      earliest = earliest === null ? outcome.startedAt : Math.min(earliest, outcome.startedAt);
    latest = Math.max(latest, outcome.endedAt);
  }
  const wall = durationLabel(earliest === null ? 0 : latest - earliest);
  return `Total wall time: ${wall}\nResults: ${succeeded} succeeded, ${runs.length - succeeded} failed/timed out`;
}

/** The findings leave the context after this turn (rule D8), so the agent must use them now. */
function instructions(kind: AgentKind, count: number): string {
  if (kind === "background") {
    const which = count > 1 ? "every task's" : "the";
    const task = `Use ${which} concrete findings for your own task, then report to your parent`;
    return `${task}; the findings leave your context after this turn.`;
  }
  const what =
    count > 1
      ? "every task's concrete findings naturally and briefly (they leave your context after this turn)"
      : "the concrete findings naturally and briefly";
  return `Tell the user ${what}: no technical details, no talk of background tasks. NO_REPLY if nothing needs saying.`;
}

/** The line that replaces an announcement in the context when its turn has ended well (rule D8). */
export function announcementLine(runs: readonly RunTexts[], started: readonly RunTexts[]): string {
  const ended = runs.map((run) => `${quoted(run.name)} (run ${run.id}) ${outcomeLabel(run.outcome)}`).join("; ");
  const begun =
    started.length === 0
      ? ""
      : ` Started meanwhile: ${started.map((run) => `${quoted(run.name)} (run ${run.id})`).join("; ")}.`;
  return `[Told of background tasks: ${sentenceEnd(ended)} Details: read_result.${begun}]`;
}
