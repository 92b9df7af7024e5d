import type { Command } from "../../command.ts";

export const STORES: Command = {
  name: "stores",
  description: "list the stores of every folder, and others that may run",
  args: [],
  options: [],
  help: `
Examples:
  errand stores
  errand stores --json | jq -r 'select(.projectThere | not) | .path'
  errand ps --all --store "$(errand stores --json | jq -r .path | head -1)"

The stores of a folder are in your data folder ($XDG_DATA_HOME/errand, else ~/.local/share/errand). A folder that moved
or is gone keeps its stores there; name one with --store. With --store it lists that one alone.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
  load: async () => (await import("./stores.ts")).storesCommand,
};
