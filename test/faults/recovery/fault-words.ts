/** What the table of docs/reliability.md says of each fault, beside what is measured. */

import type { FaultName } from "./faults.ts";

interface FaultWords {
  readonly fault: string;
  /** Followed by the notices that were measured. */
  readonly sees: string;
  readonly recovers: string;
}

/** In the order of the table. */
export const WORDS: Readonly<Record<FaultName, FaultWords>> = {
  "poisoned value": {
    fault: "A model or a tool returns a value that a journal cannot hold: 10.3 tokens, `NaN`, a cycle, a function",
    sees: "The value is made valid, or the turn fails with `turn-failed`.",
    recovers: "The next message of the same conversation is answered. Other conversations are not affected.",
  },
  "refused row": {
    fault: "The store refuses a row of one tree, or a step of one tree throws",
    sees: "After three tries the tree is quarantined, and whoever waits for its answer gets `tree-quarantined`.",
    recovers: "Other trees of the same commit go on at once. The quarantined tree goes on after `errand resume`.",
  },
  "full disk": {
    fault: "The disk is full, and a deadline passes meanwhile",
    sees: "New work is refused with `store-full`. For work under way there is one notice.",
    recovers:
      "One commit a second is tried. With room again, results are written once and the deadline takes one row. " +
      "PostgreSQL: of its tables; a server that cannot write its log stops itself, which is the crash below.",
  },
  "short lock": {
    fault: "Another program locks the SQLite file, or tables in PostgreSQL, for 2 s",
    sees: "Nothing. Callers wait.",
    recovers: "The write is tried again. The event loop goes on meanwhile.",
  },
  "long lock": {
    fault: "The same for 12 s (SQLite) and 13 s (PostgreSQL: VACUUM FULL, ALTER TABLE)",
    sees: "After 5 s one notice, and one when it is over.",
    recovers:
      "As above. A SQLite caller waits for 15 s before it gets `store-busy`. PostgreSQL workers keep their trees.",
  },
  outage: {
    fault: "The PostgreSQL server crashes and is started again after 6 s",
    sees: "Callers wait. After 5 s one notice, and one when it is over.",
    recovers: "Connections are made again. A commit whose outcome is unknown is looked up and not repeated.",
  },
  "late duties": {
    fault: "A PostgreSQL worker lives, but cannot do its periodic duties, such as looking for mail",
    sees: "After 10 s one notice. When it works again, one notice for each tree that it lost.",
    recovers:
      "After 10 s it stops its heartbeat, and after 10 s more another worker takes its trees. The time is from its return.",
  },
  killed: {
    fault: "The process is killed",
    sees: "Who waits for an answer asks again with the same id, in another process.",
    recovers:
      "SQLite: the next process goes on; the time includes its start. PostgreSQL: another worker takes the trees after 3 s without a heartbeat.",
  },
  "changing tool": {
    fault: "A tool changes the arguments it was given",
    sees: "Nothing.",
    recovers: "Every call has its own copy. The journal and the next request hold what the model asked for.",
  },
  "throwing listener": {
    fault: "Listeners of `onText` and `onDelegation` throw",
    sees: "Each listener is reported once, to `onFailure`.",
    recovers: "The turn and the other listeners go on.",
  },
  "rejecting channel": {
    fault: "A channel rejects messages for 6 s",
    sees: "`errand.channels()` says `retrying`. After 90 s there is one notice, `channel-blocked`, with what to do.",
    recovers: "The message is tried again after 1 s, 2 s, and then every 4 s. Later messages wait behind it.",
  },
  "hanging channel": {
    fault: "A channel does not answer for 6 s",
    sees: "`errand.channels()` says `sending`.",
    recovers: "The conversation goes on. A try that takes 60 s counts as failed; `close()` does not wait for it.",
  },
  "read-only disk": {
    fault: "The disk of a SQLite store is read-only",
    sees: "`ps`, `show`, `logs`, `export` and `replay` work. New work is refused with `store-unreadable`.",
    recovers: "The next command that writes works. The time includes its start.",
  },
};
