/** What goes wrong in a soak. */

export const SOAK_FAULTS = [
  /** Models say that they used 10.3 tokens, 1e19, or a text. */
  "odd-usage",
  /** Replies that are none, or hold values that no journal can hold. */
  "odd-reply",
  /** Replies that are streamed beyond the limit, for ever. */
  "endless-reply",
  /** Replies that are streamed a letter at a time, for ever. */
  "dripping-reply",
  /** The store refuses the rows of a tree, until a person releases it. */
  "refused-row",
  /** Channels reject messages. */
  "failing-channel",
  /** Channels never answer. */
  "hanging-channel",
  /** Listeners throw. */
  "throwing-listener",
  /** A safe tool throws null or an object without prototype. */
  "odd-throw",
  /** A safe tool changes its arguments. */
  "changed-arguments",
  /** Another connection holds the write lock for one to three seconds. */
  "write-lock",
  /** Another connection holds the write lock for six to twelve seconds. */
  "long-write-lock",
  /** There is no room on the disk for five seconds. */
  "full-disk",
  /** The PostgreSQL server crashes, and is started again after four seconds. */
  "outage",
  /** In the second half the process is killed and started again. */
  "kill",
] as const;

export type SoakFault = (typeof SOAK_FAULTS)[number];
