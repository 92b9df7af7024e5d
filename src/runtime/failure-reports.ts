/** What is said about a periodic duty that fails: what passes by itself is a notice once it lasts, all else is a failure at once. */

import { ErrandError, passesByItself } from "../errors.ts";
import { type DutyParts, DutyTimeout } from "../periodic-duty.ts";

export type DutyReports = Pick<DutyParts, "passes" | "onFailing" | "onRecovered">;

interface ReportingParts {
  /** True while the store itself has told what holds it up. */
  readonly storeTold: () => boolean;
  readonly onNotice: (notice: ErrandError) => void;
  readonly onFailure: (error: unknown) => void;
}

/** `duty` is the subject of a sentence, such as "Looking for mail". */
export function reportsOf(parts: ReportingParts, duty: string): DutyReports {
  let noticed = false;
  return {
    passes: passesByItself,
    onFailing(error, lateMs) {
      if (!(error instanceof DutyTimeout) && !passesByItself(error)) return parts.onFailure(error);
      if (parts.storeTold()) return;
      noticed = true;
      const why = error instanceof Error ? error.message : String(error);
      const message = `${duty} has not succeeded for ${Math.round(lateMs / 1_000)} s: ${why}`;
      const remedy = "It is tried again and goes on by itself; look why the store does not answer.";
      parts.onNotice(new ErrandError("duty-late", message, { remedy, cause: error }));
    },
    onRecovered(lateMs) {
      if (!noticed) return;
      noticed = false;
      const message = `${duty} works again after ${Math.round(lateMs / 1_000)} s.`;
      parts.onNotice(new ErrandError("duty-late", message, { details: { over: true } }));
    },
  };
}
