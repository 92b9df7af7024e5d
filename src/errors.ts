/**
 * The registry of all errors that users of Errand can get. A code is stable and documented in docs/reference/errors.md;
 * a test compares the two. A message says what happened and why; the remedy says what to do.
 */

/** Every code, with its meaning in one sentence. */
export const ERROR_CODES = {
  usage: "A command line or a call was given something it does not take.",
  "node-too-old": "The running Node.js is older than the oldest one Errand works with.",
  "sqlite-too-old": "The SQLite inside this Node.js is older than the oldest one Errand trusts with data.",
  "store-unreadable": "The store's file cannot be opened, or is not an Errand store.",
  "package-missing": "A package that only some stores need is not installed.",
  "store-unreachable": "The database server of the store cannot be reached.",
  "store-refused": "The database server refuses the user, its password, or what it may do.",
  "store-too-new": "The store was written by a newer version of Errand.",
  "store-owned": "Another process runs the trees of this store.",
  "store-moved": "The store was moved to another one; its file is kept, and nobody works with it.",
  "store-not-empty": "The database that a store is to be moved to holds other trees.",
  "store-differs": "What arrived in the other store is not what was carried there.",
  "store-read-only": "This process may read the store and put mail, but does not own it.",
  "store-not-trusted":
    "The store was not made by this user's Errand: it can be read, and nothing of it runs before the user trusts it.",
  "data-folder-unusable":
    "The user's data folder, which holds stores and the register of them, cannot be made or is open to others.",
  "store-corrupt": "A row of the store does not say what its hash promises.",
  "store-full": "The disk that holds the store is full.",
  "store-busy": "Another program holds a lock on the store for longer than a caller waits; nothing was kept or lost.",
  "duty-late": "Something that a process does by the clock, such as looking for mail, has not succeeded for a while.",
  "store-failed": "The store could not make a write durable.",
  "row-refused": "The store works, but cannot hold a row of this tree.",
  "internal-error": "Something failed that should not: a bug of Errand, or of code that it was given.",
  "store-closed": "The store was closed while something still wanted it.",
  "commit-conflict": "A commit did not find its tree as its writer knew it, because another writer came first.",
  "file-damaged": "An exported journal was changed, cut off, or is something else.",
  "file-unusable": "A file that was named cannot be read or written.",
  "commit-unknown": "Nobody knows whether a commit became durable; it is looked up, never repeated blindly.",
  "id-reused": "An id was used again with other content.",
  "file-changed": "The file that a question is about is not as it was when the change was shown.",
  "question-closed": "No such question waits for an answer: it was answered, or its turn has ended.",
  "needs-input": "The work waits for an answer of the user, and nobody is there to ask.",
  "tree-unknown": "There is no such tree in the store.",
  "tree-unplaced":
    "This process lacks a tool or a model that the tree's agents need, so that it does not run the tree.",
  "tree-owned": "Another worker of the same database runs this tree.",
  "tree-taken": "Another worker took a tree over while this process was silent.",
  "commits-lost": "The database has lost commits that it had acknowledged.",
  "tree-quarantined": "The tree failed to load or to step several times and waits for a person.",
  "agent-unknown": "There is no such agent, or it is closed.",
  "run-unknown": "There is no such run.",
  "run-failed": "The run that was waited for did not end well, or reported no data.",
  "run-open": "The run has not ended yet, so that it has no result.",
  "nothing-to-cancel": "What was to be cancelled has ended already.",
  "definition-unknown": "No agent definition has that name.",
  "tools-narrowed": "Children of an agent have fewer tools than their definitions name, because it does not hold them.",
  "definition-invalid": "An agent definition holds something that cannot be used.",
  "config-invalid": "A configuration file holds something that cannot be used.",
  "not-trusted": "A folder asks for something that is not done before the user trusts it.",
  "model-unknown": "No model can be had under that name.",
  "model-missing": "An agent was to be started, and no model is given for it.",
  "price-unknown": "A limit of money cannot be kept, because the price of the model is not known.",
  "turn-failed": "The turn that was waited for ended without an answer.",
  "turn-timeout": "The turn that was waited for did not end in time; it goes on.",
  "demo-failed": "The demonstration did not go as it should, or its journal does not prove what it promised.",
  "background-failed": "The background process ended before it had taken the task.",
  "inbox-full": "The agent's inbox is full: the message was not taken.",
  "channel-blocked": "A channel has not taken a message for 90 s; its messages wait until it is attached again.",
  "listener-failed": "A listener of the program threw, or its promise was rejected.",
  "shutting-down": "The runtime is closing and takes no new work.",
  "silent-await": "A silent message causes no turn, so there is nothing to wait for.",
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

interface ErrandErrorOptions {
  /** What the user can do: one sentence. */
  readonly remedy?: string;
  readonly cause?: unknown;
  /** Machine-readable details, such as the reason why a turn failed. */
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

/** The only class of errors that Errand throws to its users. Any other thrown value is a bug. */
export class ErrandError extends Error {
  readonly code: ErrorCode;
  readonly remedy: string | undefined;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;

  constructor(code: ErrorCode, message: string, options: ErrandErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ErrandError";
    this.code = code;
    this.remedy = options.remedy;
    this.details = options.details ?? {};
  }
}

/** Temporary failures of a store, which end by themselves or after a person has made room. The work is tried again. */
const PASSING: ReadonlySet<string> = new Set<ErrorCode>([
  "store-busy",
  "store-unreachable",
  "store-full",
  "commit-conflict",
  "commit-unknown",
]);

export function passesByItself(error: unknown): boolean {
  return error instanceof ErrandError && PASSING.has(error.code);
}

/** The code of an error of Node.js or of a driver, such as ENOENT, or null. */
export function errorCode(thrown: unknown): string | null {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : null;
}

/** The message of any thrown value. Never throws. */
export function errorText(thrown: unknown): string {
  try {
    if (thrown instanceof Error) {
      const { message, name }: { message: unknown; name: unknown } = thrown;
      if (typeof message === "string" && message !== "") return message.toWellFormed();
      return typeof name === "string" && name !== "" ? name : "an error without a message";
    }
    return String(thrown).toWellFormed();
  } catch {
    // A proxy, an object without a prototype, or one whose getters throw.
    return "a value that cannot be shown as text";
  }
}
