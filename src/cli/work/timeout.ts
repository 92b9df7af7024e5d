/** The option `--timeout`: a number of seconds, as milliseconds. */

import { ErrandError } from "../../errors.ts";

/** Longer than this is no limit any more. */
const LONGEST_S = 7 * 24 * 3_600;

export function timeoutOf(given: string | undefined): number | null {
  if (given === undefined) return null;
  const seconds = /^\d+(\.\d+)?$/.test(given) ? Number(given) : 0;
  if (seconds > 0 && seconds <= LONGEST_S) return seconds * 1_000;
  throw new ErrandError("usage", `--timeout takes a number of seconds above 0, not "${given}"`, {
    remedy: "For example: errand run --timeout 60",
  });
}
