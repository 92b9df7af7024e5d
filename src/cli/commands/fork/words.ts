import { ALLOW, BASE_URL, BY_ID, type Command } from "../../command.ts";

export const FORK: Command = {
  name: "fork",
  description: "continue from any step of a tree, in a new tree that shares the history up to it",
  args: [
    ["<tree>", `the tree to fork, ${BY_ID}`, "trees"],
    ["[task]", "the next message to it; - reads it from standard input"],
  ],
  options: [
    ["--at <seq>", "the last row of the journal that is shared; errand logs shows their numbers"],
    ["--agent <name>", "continue as another definition"],
    ["-m, --model <provider/name>", "continue with another model than the recorded one"],
    BASE_URL,
    ALLOW,
    ["--timeout <seconds>", "cancel the work when it takes longer, and exit with 3"],
  ],
  needed: ["--at <seq>"],
  help: `
Examples:
  errand fork 3f9c21 --at 12
  errand fork 3f9c21 --at 12 --agent researcher "now look at the tests instead"

Work that ran at that step is interrupted in the fork, and continues in the original tree. It owns the store while it
runs.
Exit codes: 0 done, 1 failed, 2 wrong use, 3 limit or timeout, 130 interrupted.
`,
  load: async () => (await import("./fork.ts")).forkCommand,
};
