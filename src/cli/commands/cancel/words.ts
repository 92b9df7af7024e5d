import { type Command, TREE_OR_RUN } from "../../command.ts";

export const CANCEL: Command = {
  name: "cancel",
  description: "cancel a run and everything below it, or all work of a tree",
  args: [["<id>", TREE_OR_RUN, "ids"]],
  options: [],
  help: `
Examples:
  errand cancel 3f9c21
  errand cancel last/1

A process that owns the store is asked to cancel. Without one, this command cancels the work that an earlier process
left.
Exit codes: 0 cancelled or asked for, 1 failed or nothing to cancel, 2 wrong use.
`,
  load: async () => (await import("./cancel.ts")).cancelCommand,
};
