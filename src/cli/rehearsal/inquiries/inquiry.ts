/** What it takes to answer one question: which tools to ask, given what is known, and what to report in the end. */

import type { Action, Evidence } from "../evidence.ts";

export interface Inquiry {
  /** All that should have been asked by now, in order; it grows as answers come in. */
  actions(evidence: Evidence): readonly Action[];
  /** Lines that begin with `- `, or with two spaces where they belong to the line before. */
  findings(evidence: Evidence): readonly string[];
}
