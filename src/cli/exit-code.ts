/** What the exit code of a command says. */

export const EXIT = {
  done: 0,
  failed: 1,
  /** Wrong use: an option, an argument or a command that is not known. */
  usage: 2,
  /** A limit was reached, or the time given with `--timeout` is over. */
  limit: 3,
  /** 128 and the number of the signal, as shells count. */
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
