import { type Command, TREE_OR_RUN } from "../../command.ts";

export const SHOW: Command = {
  name: "show",
  description: "show a tree with its runs, or a run with its task and result",
  args: [["<id>", TREE_OR_RUN, "ids"]],
  options: [],
  help: `
Examples:
  errand show last
  errand show --json last/1 | jq -r .result

It only reads, and works while another process owns the store.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
  load: async () => (await import("./show.ts")).showCommand,
};
