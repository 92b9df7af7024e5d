/**
 * Reports failures that no caller waits for: to `onFailure` if the store is lost, to `onNotice` if the process
 * continues.
 */

import type { Store } from "../contracts/store.ts";
import { ErrandError, passesByItself } from "../errors.ts";
import { type DutyParts, DutyTimeout } from "../periodic-duty.ts";

export type DutyReports = Pick<DutyParts, "passes" | "onFailing" | "onRecovered">;

export interface FailureReports {
  failed(thrown: unknown): void;
  /**
   * How a periodic duty reports: a failure that passes by itself is a notice once it lasts, any other is reported at
   * once. `duty` is the subject of a sentence, such as "Looking for mail".
   */
  ofDuty(duty: string): DutyReports;
}

interface ReportParts {
  readonly store: Store;
  readonly onFailure: (error: ErrandError) => void;
  readonly onNotice: (notice: ErrandError) => void;
}

/** Every caller that asks for the tree gets these, so they are reported nowhere else. */
const CALLERS_ONLY: ReadonlySet<string> = new Set([
  "store-closed",
  "tree-quarantined",
  "tree-owned",
  "tree-unplaced",
  "store-too-new",
]);
/** The store cannot be used any more. Any other failure costs one tree or one try, and the process continues. */
const STORE_LOST: ReadonlySet<string> = new Set(["store-failed", "store-owned", "store-refused", "store-unreadable"]);

export function createFailureReports({ store, onFailure, onNotice }: ReportParts): FailureReports {
  /** True while the store itself has reported what holds it up. */
  let storeReported = false;
  store.onDelay?.((notice, over) => {
    storeReported = !over;
    onNotice(notice);
  });

  function failed(thrown: unknown): void {
    const error =
      thrown instanceof ErrandError
        ? thrown
        : new ErrandError("internal-error", "The runtime failed, and goes on.", { cause: thrown });
    if (CALLERS_ONLY.has(error.code)) return;
    if (STORE_LOST.has(error.code)) onFailure(error);
    else onNotice(error);
  }

  return {
    failed,
    ofDuty(duty) {
      let noticed = false;
      return {
        passes: passesByItself,
        onFailing(error, lateMs) {
          if (!(error instanceof DutyTimeout) && !passesByItself(error)) return failed(error);
          if (storeReported) return;
          noticed = true;
          const why = error instanceof Error ? error.message : String(error);
          const message = `${duty} has not succeeded for ${Math.round(lateMs / 1_000)} s: ${why}`;
          const remedy = "Errand tries again until it succeeds. Find out why the store does not answer.";
          onNotice(new ErrandError("duty-late", message, { remedy, cause: error }));
        },
        onRecovered(lateMs) {
          if (!noticed) return;
          noticed = false;
          const message = `${duty} works again after ${Math.round(lateMs / 1_000)} s.`;
          onNotice(new ErrandError("duty-late", message, { details: { over: true } }));
        },
      };
    },
  };
}
