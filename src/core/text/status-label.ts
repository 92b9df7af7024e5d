// The words for how a run ended (D4, B2). They come from the recorded outcome, never from the child's text.

/** How a run ended. */
export interface LabelledOutcome {
  readonly status: "ok" | "error" | "timeout" | "cancelled" | "interrupted";
  readonly reason?: string;
  readonly error?: string;
}

/** How a run ended, in words for a model. */
export function statusLabel(outcome: LabelledOutcome | null | undefined): string {
  if (outcome === null || outcome === undefined) return "completed with unknown status";
  switch (outcome.status) {
    case "ok":
      return outcome.reason === "no-report" ? "completed without reporting" : "completed successfully";
    case "error": {
      const error = outcome.error?.trim() ?? "";
      return error === "" ? "failed" : `failed: ${error}`;
    }
    case "timeout":
      return "timed out";
    case "cancelled":
      return "was cancelled";
    case "interrupted":
      return "was interrupted";
  }
}
