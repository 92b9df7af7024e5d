import type { Command } from "../../command.ts";

export const TRUST: Command = {
  name: "trust",
  description: "trust what a folder asks for as it is now, or a store",
  args: [["[folder]", "the folder; without one, the current one"]],
  options: [
    ["--list", "list what is trusted"],
    ["--revoke", "trust the folder no longer"],
  ],
  ownSettings: true,
  help: `
Examples:
  errand agents
  errand trust
  errand trust --list
  errand trust --revoke ~/projects/sample
  errand trust --store ./from-a-colleague.db

A file that is changed later, or a new one, needs trust again. Trust is stored in your own configuration folder.
With --store it shows what is in a store that your Errand did not make: trees, unfinished work, open questions, messages
that wait. In a terminal it then asks you; elsewhere the command is the agreement. From then on the store may run.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
  load: async () => (await import("./trust.ts")).trustCommand,
};
