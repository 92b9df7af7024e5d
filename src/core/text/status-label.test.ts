import { expect, test } from "vitest";
import { type LabelledOutcome, statusLabel } from "./status-label.ts";

test.each<[LabelledOutcome | null | undefined, string]>([
  [{ status: "ok" }, "completed successfully"],
  [{ status: "ok", reason: "no-report" }, "completed without reporting"],
  [{ status: "error", error: "disk full" }, "failed: disk full"],
  [{ status: "error" }, "failed"],
  [{ status: "error", error: " " }, "failed"],
  [{ status: "error", reason: "no-report" }, "failed"],
  [{ status: "timeout", error: "x" }, "timed out"],
  [{ status: "cancelled" }, "was cancelled"],
  [{ status: "interrupted" }, "was interrupted"],
  [null, "completed with unknown status"],
  [undefined, "completed with unknown status"],
])("D4, B2: the outcome %j is labelled %j", (outcome, expected) => {
  expect(statusLabel(outcome)).toBe(expected);
});
