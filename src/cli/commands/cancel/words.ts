import { type Command, TREE_OR_RUN } from "../../command.ts";

export const CANCEL: Command = {
  name: "cancel",
  description: "cancel a run and everything below it, or all that a tree does",
  args: [["<id>", TREE_OR_RUN, "ids"]],
  options: [],
  help: `
Examples:
  errand cancel 3f9c21
  errand cancel last/1

Where a process owns the store it is asked to; where none does, this command cancels what an earlier process left.
Exit codes: 0 cancelled or asked for, 1 failed or nothing to cancel, 2 wrong use.
`,
  load: async () => (await import("./cancel.ts")).cancelCommand,
};
