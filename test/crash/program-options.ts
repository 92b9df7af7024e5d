/** The options of the program that crash tests kill, and the function with which it prints. */

export interface ProgramOptions {
  /** The file that gets the JSON lines, in place of standard output. */
  readonly record?: string;
  readonly store: string;
  readonly toolFile: string;
  readonly channelFile: string;
  /**
   * The number of conversations that the store holds at the end, and the ones this process continues. Default: 1, all.
   */
  readonly conversations?: number;
  /** The longest random pause of each model call, tool call and delivery, in milliseconds. Default: no pause. */
  readonly pauseMs?: number;
  /**
   * Kills itself with SIGKILL before or after its n-th commit (`after: 0`: before any), or when all work is done and
   * the store is still open.
   */
  readonly kill?: { readonly when: "before" | "after"; readonly commit: number } | { readonly when: "done" };
  /** Prints every row that a subscriber reads. */
  readonly tellRows?: boolean;
  /** Prints every commit, with the size of the write-ahead log after it. */
  readonly tellCommits?: boolean;
  /** A file with the largest number of pages that the store may have. It is read before every commit. */
  readonly pagesFile?: string;
  /** A file with the error of the wall clock in milliseconds. */
  readonly wallFile?: string;
  /** The time to close in after SIGTERM. */
  readonly closeWithinMs?: number;
  readonly mode?: "conversations" | "deadlines" | "open-runs" | "restart" | "keyed-run";
  /** For `keyed-run`: kills itself in the n-th call of the tool in this process, before or after it has acted. */
  readonly killTool?: { readonly when: "before" | "after"; readonly call: number };
  /** For the other modes: the number of trees, and of runs in each. */
  readonly trees?: number;
  readonly runs?: number;
  readonly timeoutSeconds?: number;
}

export type Tell = (line: object) => void;
