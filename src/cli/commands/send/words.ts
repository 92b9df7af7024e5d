import type { Command } from "../../command.ts";

export const SEND: Command = {
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
  load: async () => (await import("./send.ts")).sendCommand,
};
