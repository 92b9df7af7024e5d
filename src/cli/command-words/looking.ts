/** Looking at trees and runs. */

import type { Command } from "../command.ts";
import { TREE_OR_RUN } from "./shared.ts";

export const LOOKING: readonly Command[] = [
  {
    name: "ps",
    description: "list the trees that have something to do",
    args: [],
    options: [["-a, --all", "those at rest, closed and expired too"]],
    help: `
Examples:
  errand ps
  errand ps --all --json | jq -r .id

It only reads, and works while another process owns the store.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
    load: async () => (await import("../commands/ps.ts")).psCommand,
  },
  {
    name: "show",
    description: "show a tree with its runs, or a run with its task and result",
    args: [["<id>", TREE_OR_RUN, "ids"]],
    options: [],
    help: `
Examples:
  errand show 019a8f3c
  errand show --json 019a8f3c-51d2-7001 | jq -r .result

It only reads, and works while another process owns the store.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
    load: async () => (await import("../commands/show.ts")).showCommand,
  },
  {
    name: "logs",
    description: "print the facts of a tree's journal, one a line",
    args: [["<tree>", TREE_OR_RUN, "ids"]],
    options: [["-f, --follow", "go on with those to come, until the tree is closed or Ctrl-C"]],
    help: `
Examples:
  errand logs 019a8f3c
  errand logs -f 019a8f3c
  errand logs --json 019a8f3c | jq -c '.facts[] | select(.type == "run-ended")'

It only reads, and works while another process owns the store. With --json a line is a row of the journal.
Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted.
`,
    load: async () => (await import("../commands/logs.ts")).logsCommand,
  },
  {
    name: "result",
    description: "print the whole findings of a run that has ended, or a tree's answer to the last message",
    args: [["<id>", TREE_OR_RUN, "ids"]],
    options: [],
    help: `
Examples:
  errand result 019a8f3c-51d2-7001 > findings.txt
  errand result 019a8f3c

What a run left is printed however it ended; how, and why it failed, is said on standard error, and a run that did not
end well is exit 1. A tree has an answer once it is at rest; one whose last turn failed is exit 1.
Exit codes: 0 done, 1 failed or not ended, 2 wrong use.
`,
    load: async () => (await import("../commands/result.ts")).resultCommand,
  },
];
