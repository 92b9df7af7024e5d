/** Having a say in what goes on, and going on with it. */

import type { Command } from "../command.ts";
import { ALLOW, BASE_URL, TREE_OR_RUN } from "./shared.ts";

export const STEERING: readonly Command[] = [
  {
    name: "send",
    description: "send a message to an agent",
    args: [
      ["<agent>", "a tree for its root agent, or a run for its child, by an id or any unique beginning of it", "ids"],
      ["<text>", "the message; - reads it from standard input"],
    ],
    options: [],
    help: `
Examples:
  errand send 019a8f3c "and look at the tests too"
  git diff | errand send 019a8f3c -

Where a process owns the store, that process takes the message and works on it. Where none does, the message is kept,
and errand resume goes on with it.
Exit codes: 0 the message is durable, 1 failed, 2 wrong use.
`,
    load: async () => (await import("../commands/send.ts")).sendCommand,
  },
  {
    name: "answer",
    description: "list the calls that wait for your permission, or allow or refuse one",
    args: [
      [
        "[question]",
        "a question, by its id or any unique beginning of it; without one, those that are open are listed",
      ],
      ["[answer]", "yes or no; without it, a terminal asks"],
      ["[note]", "what the agent should know about your refusal"],
    ],
    options: [["--seen <mark>", "allow it only if its file is as it was when this mark was shown"]],
    help: `
Examples:
  errand answer
  errand answer 019a8f3c
  errand answer 019a8f3c yes
  errand answer 019a8f3c yes --seen 4be19c02a77d
  errand answer 019a8f3c no "use the staging database"

Each question is shown with the change that it would make to its file, as that is now. An allowed change is made only if the
file is still as this command saw it.

A run that asks waits, and costs nothing, until it is answered. Where a process owns the store it goes on at once; where none
does, the answer is kept, and errand resume goes on with it.
Exit codes: 0 listed, or the answer is durable, 1 failed or not open, 2 wrong use.
`,
    load: async () => (await import("../commands/answer.ts")).answerCommand,
  },
  {
    name: "cancel",
    description: "cancel a run and everything below it, or all that a tree does",
    args: [["<id>", TREE_OR_RUN, "ids"]],
    options: [],
    help: `
Examples:
  errand cancel 019a8f3c
  errand cancel 019a8f3c-51d2-7001

Where a process owns the store it is asked to; where none does, this command cancels what an earlier process left.
Exit codes: 0 cancelled or asked for, 1 failed or nothing to cancel, 2 wrong use.
`,
    load: async () => (await import("../commands/cancel.ts")).cancelCommand,
  },
  {
    name: "resume",
    description: "take up what an earlier process left unfinished, and stay until it is done",
    args: [["[tree]", "only show this one, and release it if it is quarantined", "trees"]],
    options: [BASE_URL, ["--timeout <seconds>", "cancel the work when it takes longer, and exit with 3"]],
    help: `
Examples:
  errand resume
  errand resume 019a8f3c

It owns the store that has the tree while it runs; what another process works on is left to it.
Exit codes: 0 done, 1 failed, 2 wrong use, 3 limit or timeout, 130 interrupted.
`,
    load: async () => (await import("../commands/resume.ts")).resumeCommand,
  },
  {
    name: "worker",
    description: "run trees of a database together with other workers, until it is stopped",
    args: [],
    options: [
      ["-m, --model <provider/name>", "the model of agents whose definition names none; without it, as for errand run"],
      BASE_URL,
      ALLOW,
    ],
    help: `
Examples:
  ERRAND_DATABASE_URL=postgres://user@host/errand errand worker
  errand worker --store postgres://user@host/errand --json

Any number of workers, on any number of machines, share a PostgreSQL database. Each takes trees that have something to do and that
nobody runs: mail that came, a time that was reached, what a dead process left. SIGTERM lets its trees go, and the others go on
with them at once; after a crash they do so within seconds.
Exit codes: 0 stopped by SIGTERM, 1 failed, 2 wrong use, 130 interrupted.
`,
    load: async () => (await import("../commands/worker.ts")).workerCommand,
  },
];
