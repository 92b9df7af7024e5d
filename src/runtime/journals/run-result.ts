/** The whole result of an ended run, read from the step that ended it: nothing is run again for it. */

import type { Store, StoredRun } from "../../contracts/store.ts";
import { bodyRead, headRead } from "../../core/journal/row.ts";
import { NO_RESULT, resultFromJson, resultWhole, type RunResult } from "../../core/reports/run-result.ts";

export interface StoredResult {
  readonly result: RunResult;
  /** All of it as one text: findings, artifacts, data and earlier reports. */
  readonly whole: string;
  /** Why it did not end well, in words; null if only the reason is known. */
  readonly error: string | null;
  /** Why the closing call of a run that had reported failed. */
  readonly closed: string | null;
}

export async function runResult(store: Store, run: StoredRun): Promise<StoredResult> {
  const [row] = run.endedSeq === null ? [] : await store.rows(run.tree, run.endedSeq, 1);
  const { events = [] } = row === undefined ? {} : headRead(row.head);
  const ended = events.find((event) => event.type === "run-ended" && event.run === run.number);
  if (row === undefined || ended?.type !== "run-ended")
    return { result: NO_RESULT, whole: "", error: null, closed: null };
  const { texts } = bodyRead(row.body);
  const result = resultFromJson(ended.result === undefined ? undefined : texts[ended.result]);
  const error = ended.error === undefined ? null : texts[ended.error];
  return {
    result,
    whole: resultWhole(result),
    error: typeof error === "string" ? error : null,
    closed: ended.closed ?? null,
  };
}
