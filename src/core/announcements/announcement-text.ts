/**
 * The words of an announcement (rules D4–D7): one or several ended runs, their findings framed and bounded, their numbers, and what
 * to do with them.
 */

import { type Excerpt, excerpt } from "../context/excerpt.ts";
import { outcomeLabel } from "../context/outcome-label.ts";
import { NO_OUTPUT, type RunTexts } from "../context/run-texts.ts";
import type { AgentKind } from "../event.ts";
import type { Sha256 } from "../journal.ts";
import type { Limits } from "../limits.ts";
import { durationLabel, frameBuild } from "../text/index.ts";

interface Announced {
  readonly runs: readonly RunTexts[];
  /** Names of members that are still running. */
  readonly stragglers: readonly RunTexts[];
  /** The kind of agent that is told. */
  readonly kind: AgentKind;
}

const MICRO = 1_000_000;

export function announcementText(announced: Announced, limits: Limits, sha256: Sha256): string {
  const { runs, stragglers, kind } = announced;
  const [only] = runs;
  const share = Math.max(
    1,
    Math.min(limits.summaryBytes, Math.floor(limits.announcementBytes / Math.max(1, runs.length))),
  );
  const blocks =
    runs.length === 1 && only !== undefined
      ? [
          `Background task "${only.name}" ${outcomeLabel(only.outcome)}.`,
          `Findings:\n${findings(only, share, sha256)}`,
          stats(only),
        ]
      : [
          `${runs.length} background tasks have ended.`,
          ...runs.map((run, index) => several(run, index + 1, share, sha256)),
          totals(runs),
        ];
  const open = stragglers.map(
    (run) => `Task "${run.name}" (run ${run.id}): still running; you will be told when it ends.`,
  );
  return [...blocks, ...open, instructions(kind, runs.length)].join("\n\n");
}

function findings(run: RunTexts, maxBytes: number, sha256: Sha256): string {
  const text = run.outcome?.findings ?? "";
  if (text === "") return NO_OUTPUT;
  const cut: Excerpt = excerpt(text, maxBytes, sha256);
  const frame = frameBuild("findings", run.agent, cut.text);
  if (cut.truncated === null) return frame;
  return `${frame}\ntruncated: ${JSON.stringify(cut.truncated)}; read the rest with read_result, run_id ${run.id}`;
}

function runtimeOf(run: RunTexts): number | null {
  const outcome = run.outcome;
  return outcome === null || outcome.startedAt === null ? null : outcome.endedAt - outcome.startedAt;
}

function stats(run: RunTexts): string {
  const runtime = runtimeOf(run);
  const outcome = run.outcome;
  const parts = [
    ...(runtime === null ? [] : [`runtime ${durationLabel(runtime)}`]),
    ...(outcome === null || outcome.tokens === 0 ? [] : [`tokens ${outcome.tokens}`]),
    ...(outcome === null || outcome.cost === 0 ? [] : [`cost $${(outcome.cost / MICRO).toFixed(4)}`]),
    ...(run.reports > 1 ? [`messages ${run.reports}`] : []),
    `run ${run.id}`,
  ];
  return `Stats: ${parts.join(" • ")}`;
}

function several(run: RunTexts, number: number, maxBytes: number, sha256: Sha256): string {
  const runtime = runtimeOf(run);
  const duration = runtime === null ? "" : ` (${durationLabel(runtime)})`;
  const lines = [
    `### Task ${number}: "${run.name}"`,
    `Status: ${outcomeLabel(run.outcome)}${duration}`,
    findings(run, maxBytes, sha256),
    stats(run),
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

function instructions(kind: AgentKind, count: number): string {
  const all = count > 1 ? " Cover every task." : "";
  if (kind === "background") return `Use these results for your own task, then report to your parent.${all}`;
  return (
    `Summarise this for the user, naturally and briefly.${all} No technical details, no talk of background tasks. ` +
    "If nothing needs saying, answer NO_REPLY."
  );
}

/** What stands in the context for an announcement once its turn has ended well (rule D8). */
export function announcementLine(runs: readonly RunTexts[], started: readonly RunTexts[]): string {
  const ended = runs.map((run) => `"${run.name}" (run ${run.id}) ${outcomeLabel(run.outcome)}`).join("; ");
  const begun =
    started.length === 0
      ? ""
      : ` Started meanwhile: ${started.map((run) => `"${run.name}" (run ${run.id})`).join("; ")}.`;
  return `[Told of background tasks: ${ended}. Details: read_result.${begun}]`;
}
