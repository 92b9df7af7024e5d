import type { Command } from "../../command.ts";

export const AGENTS: Command = {
  name: "agents",
  description: "list the agents and skills that can be used here, with their files and warnings",
  args: [["[name]", "show this one in full, with its prompt"]],
  options: [],
  help: `
Examples:
  errand agents
  errand agents researcher
  errand agents --json | jq -r 'select(.needsTrust) | .source'

Definitions of this folder win over those of your home, and these over the built-in ones. A file that asks for commands,
hooks, servers or base URLs is not used until you trust it: errand trust.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
  load: async () => (await import("./agents.ts")).agentsCommand,
};
