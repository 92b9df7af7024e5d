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

What a run left is printed however it ended; how, and why it failed, is said on standard error, and a run that did not
end well is exit 1. A tree has an answer once it is at rest; one whose last turn failed is exit 1.
Exit codes: 0 done, 1 failed or not ended, 2 wrong use.
`,
  load: async () => (await import("./result.ts")).resultCommand,
};
