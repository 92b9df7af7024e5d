import type { Command } from "../../command.ts";

export const CONFIG: Command = {
  name: "config",
  description: "list the settings and where they come from; read, set or unset one",
  args: [
    ["[action]", "get, set or unset; without one, all settings are listed"],
    ["[key]", "a setting"],
    ["[value]", "its value; none for no value"],
  ],
  options: [["--global", "set or unset it for you, wherever you are, instead of for this folder"]],
  ownSettings: true,
  help: `
Examples:
  errand config
  errand config get model
  errand config set --global model ollama/qwen3
  errand config set limits.costPerTree 2000000
  errand config unset limits.costPerTree

A flag wins over the environment, that over the folder's .errand/config.json, and that over your own config.json. Values
of a folder that you did not trust are listed and not used: errand trust.
Exit codes: 0 done, 1 failed, 2 wrong use.
`,
  load: async () => (await import("./config.ts")).configCommand,
};
