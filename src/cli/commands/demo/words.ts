import type { Command } from "../../command.ts";

export const DEMO: Command = {
  name: "demo",
  description: "see a process killed at work, and another one finish its job; offline",
  args: [],
  options: [],
  help: `
Examples:
  errand demo
  errand demo --store demo.db && errand ps --all --store demo.db

An agent and four children look into the current folder, with a model that needs no key. After two children have ended
the process that runs them is killed with SIGKILL; a new one continues where it stopped. At the end the journal is
counted and replayed. It takes less than 15 seconds, and leaves nothing behind, unless --store names a new file for the
journal.

Exit codes: 0 the promise was kept, 1 it was not, or something failed, 2 wrong use, 130 interrupted.
`,
  load: async () => (await import("./demo.ts")).demoCommand,
};
