/** What the contexts hold of a run until its outcome is in its parent's context. */

import type { ReportKind, RunStatus, Sha256 } from "../journal/journal.ts";
import type { Report } from "../reports/report.ts";
import type { RunResult } from "../reports/run-result.ts";
import { codePointsPrefix } from "../text/index.ts";
import type { OutsideTexts } from "./outside-texts.ts";
import type { Json } from "../values/json.ts";

export interface TaskFacts {
  /** SHA-256 of the task with CRLF as LF, trimmed; base64url. */
  readonly hash: string;
  /** The first 80 code points. */
  readonly preview: string;
}

export function taskFacts(task: string, sha256: Sha256): TaskFacts {
  return { hash: sha256(task.replaceAll("\r\n", "\n").trim()), preview: codePointsPrefix(task, PREVIEW_LENGTH) };
}

const PREVIEW_LENGTH = 80;

export interface RunOutcome {
  readonly status: RunStatus;
  readonly reason: string | null;
  /** Why it did not end well, in words; null without words. */
  readonly error: string | null;
  readonly report: ReportKind;
  readonly nudged: boolean;
  readonly result: RunResult;
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly tokens: number;
  readonly cost: number;
}

export interface RunTexts {
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  /** Rule F8: identifies the delegation in logs and metrics. */
  readonly task: TaskFacts;
  /** JSON Schema of the result's data, if one was given. */
  readonly schema: Json | undefined;
  readonly reports: Report[];
  /** The newest final report. */
  final: Report | null;
  /** Why the newest report was refused; null if it was accepted. */
  refused: string | null;
  outcome: RunOutcome | null;
  /** Null for a child whose turns are executed here. */
  readonly outside: OutsideTexts | null;
}
