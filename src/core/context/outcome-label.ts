/** An outcome in words, on one line: for announcements, short lines and payloads. */

import { codePointsPrefix, statusLabel } from "../text/index.ts";
import type { RunOutcomeTexts } from "./run-texts.ts";

const MAX_ERROR = 200;

export function outcomeLabel(outcome: RunOutcomeTexts | null): string {
  if (outcome === null) return statusLabel(null);
  const error = outcome.error ?? outcome.reason;
  return statusLabel({
    status: outcome.status,
    ...(outcome.reason === null ? {} : { reason: outcome.reason }),
    ...(error === null ? {} : { error: codePointsPrefix(error.split("\n", 1)[0] ?? "", MAX_ERROR) }),
  });
}
