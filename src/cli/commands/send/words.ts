import { type Command, TREE_OR_RUN } from "../../command.ts";

export const SEND: Command = {
  name: "send",
  description: "send a message to an agent",
  args: [
    ["<agent>", `${TREE_OR_RUN}; a tree stands for its root agent`, "ids"],
    ["<text>", "the message; - reads it from standard input"],
  ],
  options: [],
  help: `
Examples:
  errand send 3f9c21 "and look at the tests too"
  git diff | errand send 3f9c21 -

If a process owns the store, it takes the message and handles it. If none does, the message is stored, and errand resume
continues with it.
Exit codes: 0 the message is durable, 1 failed, 2 wrong use.
`,
  load: async () => (await import("./send.ts")).sendCommand,
};
