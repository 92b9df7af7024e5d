import { type Command, TREE_OR_RUN } from "../../command.ts";

export const RESULT: Command = {
  name: "result",
  description: "print the whole findings of a run that has ended, or a tree's answer to the last message",
  args: [["<id>", TREE_OR_RUN, "ids"]],
  options: [],
  help: `
Examples:
  errand result last/1 > findings.txt
  errand result last

The findings of a run are printed however it ended. The outcome and its reason are on standard error, and a run that did
not succeed is exit 1. A tree has an answer once it is idle; a tree whose last turn failed is exit 1.
Exit codes: 0 done, 1 failed or not ended, 2 wrong use.
`,
  load: async () => (await import("./result.ts")).resultCommand,
};
