/**
 * Revisions. A row carries the revisions that made it: replay decides it again, and builds its contexts again, only
 * under these. `apply` must read every row ever written; its revision only says whether a snapshot is valid.
 */

const DECIDE_REVISION = 8;
const CONTEXT_REVISION = 10;
const APPLY_REVISION = 9;

/** Written into each row. */
export const ROW_REVISION = `${DECIDE_REVISION}.${CONTEXT_REVISION}`;
/** Written with each snapshot. */
export const SNAPSHOT_REVISION = `${APPLY_REVISION}.${CONTEXT_REVISION}`;
/** The layout of rows. A store that holds a higher one was written by a newer Errand. */
export const JOURNAL_FORMAT = 1;
