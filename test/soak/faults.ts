/** What goes wrong in a soak. */

export const SOAK_FAULTS = [
  /** Models say that they used 10.3 tokens, 1e19, or a text. */
  "odd-usage",
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
  /** In the second half the process is killed and started again. */
  "kill",
] as const;

export type SoakFault = (typeof SOAK_FAULTS)[number];
