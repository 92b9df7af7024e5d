/**
 * The registry of all errors that users of Errand can get. A code is stable and documented in docs/reference/errors.md;
 * a test compares the two. A message says what happened and why; the remedy says what to do.
 */

/** Every code, with its meaning in one sentence. */
export const ERROR_CODES = {
  usage: "A command line or a call has an invalid option, argument or value.",
  "node-too-old": "The running Node.js is older than the oldest supported version.",
  "sqlite-too-old": "The SQLite in this Node.js is older than the oldest version that is safe for data.",
  "store-unreadable": "The store's file cannot be opened, or is not an Errand store.",
  "package-missing": "A package that only some stores need is not installed.",
  "store-unreachable": "The database server of the store cannot be reached.",
  "store-refused": "The database server refuses the user, the password, or an operation of the user.",
  "store-too-new": "The store was written by a newer version of Errand.",
  "store-owned": "Another process runs the trees of this store.",
  "store-moved": "The store was moved to another one. Its file is kept and cannot be used any more.",
  "store-not-empty": "The target database of a move contains other trees.",
  "store-differs": "A moved tree differs from its original.",
  "store-read-only": "This process may read the store and send messages, but does not own it.",
  "store-not-trusted":
    "The store was not created by this user's Errand. It can be read, and nothing in it runs until the user trusts it.",
  "data-folder-unusable":
    "The user's data folder, with the stores and their register, cannot be created, or other users can write it.",
  "store-corrupt": "A row of the store does not match its hash.",
  "store-full": "The disk that holds the store is full.",
  "store-busy": "Another program locks the store for longer than a caller waits. Nothing was written or lost.",
  "duty-late": "A periodic duty of a process, such as looking for messages, has been failing for a while.",
  "store-failed": "The store could not make a write durable.",
  "row-refused": "The store works, but cannot hold a row of this tree.",
  "internal-error": "An unexpected failure: a bug in Errand, or in code that it calls.",
  "store-closed": "The store was used after it was closed.",
  "commit-conflict": "A commit was refused because another writer had changed its tree.",
  "file-damaged": "An exported journal was changed or cut off, or the file is no journal.",
  "file-unusable": "A given file cannot be read or written.",
  "commit-unknown": "It is unknown whether a commit became durable. Errand looks it up before it repeats anything.",
  "id-reused": "An id was reused with different content.",
  "file-changed": "The file of a question has changed since its change was shown.",
  "answer-unfit":
    "The answer does not fit its question: words for a call, which needs yes or no, or none of the choices.",
  "question-closed": "The question is not open: it was answered, or its turn has ended.",
  "needs-input": "The work needs an answer, and there is no user to ask.",
  "tree-unknown": "There is no such tree in the store.",
  "tree-unplaced": "This process does not run the tree, because it lacks a tool or a model of the tree's agents.",
  "tree-owned": "Another worker of the same database runs this tree.",
  "tree-taken": "Another worker took over a tree while this process did not renew its lease.",
  "commits-lost": "The database has lost commits that it had acknowledged.",
  "tree-quarantined": "The tree failed several times and is stopped until a person releases it.",
  "agent-unknown": "There is no such agent, or it is closed.",
  "run-unknown": "There is no such run.",
  "run-failed": "The awaited run did not end with `ok`, or reported no data.",
  "run-open": "The run has not ended yet, so it has no result.",
  "nothing-to-cancel": "The run or tree to cancel has already ended.",
  "definition-unknown": "No agent definition has that name.",
  "tools-narrowed":
    "Children of an agent get fewer tools than their definitions name, because the agent does not have them.",
  "definition-invalid": "An agent definition has an invalid value.",
  "config-invalid": "A configuration file has an invalid value.",
  "not-trusted": "A folder asks for something that needs the user's trust.",
  "model-unknown": "No model with that name is available.",
  "model-missing": "An agent has no model.",
  "price-unknown": "A cost limit cannot be enforced, because the price of the model is unknown.",
  "turn-failed": "The awaited turn ended without an answer.",
  "turn-timeout": "The awaited turn did not end in time. It continues.",
  "demo-failed": "The demonstration failed, or its journal does not prove its result.",
  "background-failed": "The background process ended before it took the task.",
  "inbox-full": "The agent's inbox is full: the message was not taken.",
  "channel-blocked": "A channel has not taken a message for 90 s. Its messages wait until it is attached again.",
  "listener-failed": "A listener of the program threw, or its promise was rejected.",
  "shutting-down": "The runtime is closing and takes no new work.",
  "silent-await": "A silent message starts no turn, so there is no answer to wait for.",
} as const;

/** The codes of `ERROR_CODES`. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** What an error holds besides its code and message. */
export interface ErrandErrorOptions {
  /** What the user can do: one sentence. */
  readonly remedy?: string;
  readonly cause?: unknown;
  /** Machine-readable details, such as the reason why a turn failed. */
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

/** The only class of errors that Errand throws to its users. Any other thrown value is a bug. */
export class ErrandError extends Error {
  readonly code: ErrorCode;
  declare readonly remedy: string | undefined;
  declare readonly details: Readonly<Record<string, string | number | boolean | null>>;

  constructor(code: ErrorCode, message: string, options: ErrandErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ErrandError";
    this.code = code;
    const { remedy, details } = options;
    // What is printed of an error that nothing catches should be short: no empty fields, no frames of Node.js.
    if (remedy !== undefined) this.remedy = remedy;
    Object.defineProperty(this, "details", { value: details ?? {}, enumerable: details !== undefined });
    this.stack = this.stack?.replaceAll(INTERNAL_FRAME, "") ?? "";
  }
}

const INTERNAL_FRAME = /\n {4}at [^\n]*\bnode:internal\/[^\n]*/g;

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
