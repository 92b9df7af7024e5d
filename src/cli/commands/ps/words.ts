import type { Command } from "../../command.ts";

export const PS: Command = {
  name: "ps",
  description: "list the trees that have something to do",
  args: [],
  options: [["-a, --all", "those at rest, closed and expired too"]],
  help: `
Examples:
  errand ps
  errand ps --all --json | jq -r .id

Each tree has a short id, which every command takes, and a title: what was asked first. last is the newest tree.
It only reads, and works while another process owns the store.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
  load: async () => (await import("./ps.ts")).psCommand,
};
