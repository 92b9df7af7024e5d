/** The exit codes of commands. */

export const EXIT = {
  done: 0,
  failed: 1,
  /** A usage error: an unknown option, argument or command. */
  usage: 2,
  /** A limit was reached, or the time given with `--timeout` is over. */
  limit: 3,
  /** 128 and the number of the signal, as shells count. */
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of a command that a signal ends. */
export function signalExit(signal: "SIGINT" | "SIGTERM" | "SIGHUP"): ExitCode {
  return { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hangup }[signal];
}
