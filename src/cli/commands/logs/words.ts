import { type Command, TREE_OR_RUN } from "../../command.ts";

export const LOGS: Command = {
  name: "logs",
  description: "print the facts of a tree's journal, one a line",
  args: [["<tree>", TREE_OR_RUN, "ids"]],
  options: [["-f, --follow", "continue with new ones, until the tree is closed or Ctrl-C"]],
  help: `
Examples:
  errand logs last
  errand logs -f last
  errand logs --json last | jq -c '.facts[] | select(.type == "run-ended")'

It only reads, and works while another process owns the store. With --json a line is a row of the journal.
Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted.
`,
  load: async () => (await import("./logs.ts")).logsCommand,
};
