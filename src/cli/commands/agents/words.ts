import type { Command } from "../../command.ts";

export const AGENTS: Command = {
  name: "agents",
  description: "list the agents and skills that can be used here, with their files and warnings",
  args: [["[name]", "show this one whole, with its prompt"]],
  options: [],
  help: `
Examples:
  errand agents
  errand agents researcher
  errand agents --json | jq -r 'select(.needsTrust) | .source'

Those of this folder go before those of your home, and these before the built-in ones. What asks for commands, hooks,
servers or base URLs is not used before you trust it: errand trust.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
  load: async () => (await import("./agents.ts")).agentsCommand,
};
